// Light, dark, or as the system has it.
const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
const KEY = 'fathom-theme';

export function theme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return THEMES.find((each) => each === kept) ?? 'auto';
  } catch {
    return 'auto'; // Pages in files may have no storage.
  }
}

export function applyTheme(chosen: Theme): void {
  if (chosen === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.dataset['theme'] = chosen;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // It then lasts as long as the page.
  }
  dispatchEvent(new Event('fathom-theme'));
}

export const nextTheme = (now: Theme): Theme =>
  THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] ?? 'auto';
