/** Line icons of the navigation. */

import type { PlaceName } from './routes.tsx'

const PATHS: Readonly<Record<PlaceName, string>> = {
  talk: 'M5.5 4h9A1.5 1.5 0 0 1 16 5.5v6a1.5 1.5 0 0 1-1.5 1.5H9l-3.5 3v-3A1.5 1.5 0 0 1 4 11.5v-6A1.5 1.5 0 0 1 5.5 4',
  needs:
    'M10 3.2a4.3 4.3 0 0 1 4.3 4.3c0 3.6 1.5 5 1.5 5H4.2s1.5-1.4 1.5-5A4.3 4.3 0 0 1 10 3.2z' +
    'M8.4 15.4a1.7 1.7 0 0 0 3.2 0',
  now: 'M3 10.5h3l2-5.5 3.5 10 2-4.5H17',
  runs: 'M4 5.5h12M4 10h12M4 14.5h7',
}

export function PlaceIcon({ name }: { readonly name: PlaceName }) {
  return (
    <svg aria-hidden="true" class="size-5 shrink-0" viewBox="0 0 20 20" fill="none">
      <path d={PATHS[name]} stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  )
}

const THEME_PATHS = {
  auto: 'M10 3.8a6.2 6.2 0 1 1 0 12.4 6.2 6.2 0 0 1 0-12.4zM10 4v12M12 5v10M14 6.2v7.6',
  light:
    'M10 6.8a3.2 3.2 0 1 1 0 6.4 3.2 3.2 0 0 1 0-6.4zM10 2.5v1.3M10 16.2v1.3M2.5 10h1.3M16.2 10h1.3' +
    'M4.7 4.7l.9.9M14.4 14.4l.9.9M4.7 15.3l.9-.9M14.4 5.6l.9-.9',
  dark: 'M15.8 11.9A6.3 6.3 0 0 1 8.1 4.2a6.3 6.3 0 1 0 7.7 7.7z',
} as const

export function ThemeIcon({ theme }: { readonly theme: keyof typeof THEME_PATHS }) {
  return (
    <svg aria-hidden="true" class="size-5 shrink-0" viewBox="0 0 20 20" fill="none">
      <path
        d={THEME_PATHS[theme]}
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}
