// Fetches the views of more.ts when the first of them is shown.
export const fetchMore = (): Promise<typeof import('./more')> => import('./more');
