/** Light or dark: as the system, or as the owner chose in this browser. */

const KEY = 'tireless-theme'
const THEMES = ['auto', 'light', 'dark'] as const

type Theme = (typeof THEMES)[number]

export const storedTheme = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto'

export function applyTheme(theme: Theme): void {
  if (theme === 'auto') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.dataset.theme = theme
}

/** Contract: the theme after this one is applied and remembered. */
export function switchTheme(theme: Theme): Theme {
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto'
  localStorage.setItem(KEY, next)
  applyTheme(next)
  return next
}
