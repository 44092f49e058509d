// What elements in TSX are made by: build.mjs gives it to each file.
export { Fragment, h } from 'preact';
