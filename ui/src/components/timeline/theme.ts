// Colours of the canvas, read from the style sheet so that both agree.
import type { Theme } from './scene';

function colourOf(style: CSSStyleDeclaration, name: string): number {
  const match = /^#([0-9a-f]{6})$/i.exec(style.getPropertyValue(name).trim());
  return match ? parseInt(match[1] ?? '0', 16) : 0x808080;
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  return {
    dark: style.getPropertyValue('--dark').trim() === '1',
    paper: colourOf(style, '--paper'),
    raised: colourOf(style, '--raised'),
    ink: colourOf(style, '--ink'),
    line: colourOf(style, '--line'),
  };
}

export const cssOf = (colour: number): string => `#${colour.toString(16).padStart(6, '0')}`;

/** Black or white, whichever is easier to read on a colour. */
export function inkOn(colour: number): string {
  const part = (shift: number): number => {
    const value = ((colour >> shift) & 255) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const light = 0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0);
  return light > 0.18 ? '#000000' : '#ffffff';
}
