/** Line icons of the navigation. */

import type { PlaceName } from './routes.tsx'

const PATHS: Readonly<Record<PlaceName | 'more', string>> = {
  talk: 'M5.5 4h9A1.5 1.5 0 0 1 16 5.5v6a1.5 1.5 0 0 1-1.5 1.5H9l-3.5 3v-3A1.5 1.5 0 0 1 4 11.5v-6A1.5 1.5 0 0 1 5.5 4',
  needs:
    'M10 3.2a4.3 4.3 0 0 1 4.3 4.3c0 3.6 1.5 5 1.5 5H4.2s1.5-1.4 1.5-5A4.3 4.3 0 0 1 10 3.2z' +
    'M8.4 15.4a1.7 1.7 0 0 0 3.2 0',
  now: 'M3 10.5h3l2-5.5 3.5 10 2-4.5H17',
  work: 'M4 4.5h3.5v11H4zM8.25 4.5h3.5v7.5h-3.5zM12.5 4.5H16v9.5h-3.5z',
  runs: 'M4 5.5h12M4 10h12M4 14.5h7',
  agents: 'M10 3.5a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM4.2 16.2c.4-3 2.8-4.7 5.8-4.7s5.4 1.7 5.8 4.7',
  memory: 'M10 5.2C8.6 4.2 6.6 3.8 4 4v11c2.6-.2 4.6.2 6 1.2 1.4-1 3.4-1.4 6-1.2V4c-2.6-.2-4.6.2-6 1.2zm0 0v11',
  costs: 'M4 16V9.5M8 16V6M12 16v-4M16 16V4',
  reports: 'M5.5 3.5h6l3 3v10h-9zM11.5 3.5v3h3M8 10h4M8 13h4',
  settings:
    'M4 6.5h6M14 6.5h2M12 4.7a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6z' +
    'M4 13.5h2M10 13.5h6M8 11.7a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6z',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
}

export function PlaceIcon({ name }: { readonly name: PlaceName | 'more' }) {
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
