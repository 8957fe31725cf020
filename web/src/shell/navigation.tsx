/** Navigation between the places: at the side on a desktop, at the bottom on a phone; switches and connection. */

import { useState } from 'preact/hooks'
import { Dot, Logo, type Tone } from '../components.tsx'
import type { PageState } from '../page-state.ts'
import type { Texts } from '../texts.ts'
import { PlaceIcon, ThemeIcon } from './icons.tsx'
import type { PlaceName } from './routes.tsx'
import { storedTheme, switchTheme } from './theme.ts'

export const LINKS: readonly { readonly name: PlaceName; readonly href: string }[] = [
  { name: 'talk', href: '/' },
  { name: 'needs', href: '/needs-you' },
  { name: 'now', href: '/now' },
  { name: 'runs', href: '/runs' },
]

interface NavigationProps {
  readonly texts: Texts
  readonly current: PlaceName | undefined
  readonly needCount: number
}

interface ShellHeaderProps extends NavigationProps {
  readonly page: PageState
  switchLanguage(): void
}

const SIDE_CLASSES = 'sticky top-0 flex h-dvh w-56 shrink-0 flex-col gap-1 border-r border-line px-3 py-5'

/** The side of the page on a desktop. */
export function SideBar({ page, texts, current, needCount, switchLanguage }: ShellHeaderProps) {
  return (
    <aside class={SIDE_CLASSES}>
      <Brand page={page} />
      <Links texts={texts} current={current} needCount={needCount} layout="side" />
      <div class="mt-auto flex flex-col gap-2 px-2">
        <Connection page={page} texts={texts} />
        <Switches texts={texts} switchLanguage={switchLanguage} />
      </div>
    </aside>
  )
}

/** The top of the page on a phone. */
export function TopBar({ page, texts, switchLanguage }: Pick<ShellHeaderProps, 'page' | 'texts' | 'switchLanguage'>) {
  return (
    <header class="flex items-center justify-between gap-3 px-4 pt-3 pb-1">
      <Brand page={page} />
      <div class="flex items-center gap-3">
        <Connection page={page} texts={texts} isShort />
        <Switches texts={texts} switchLanguage={switchLanguage} />
      </div>
    </header>
  )
}

const BOTTOM_CLASSES = 'fixed inset-x-0 bottom-0 z-20 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)]'

/** The bottom of the page on a phone. */
export function BottomBar(props: NavigationProps) {
  return (
    <div class={BOTTOM_CLASSES}>
      <Links {...props} layout="bottom" />
    </div>
  )
}

const LAYOUTS = {
  side: { list: 'flex flex-col gap-0.5 pt-5', link: 'flex items-center gap-3 rounded-lg px-3 py-2', label: '' },
  bottom: {
    list: 'grid grid-cols-4',
    link: 'relative flex flex-col items-center gap-0.5 px-1 pt-2 pb-1.5',
    label: 'text-[11px] leading-4',
  },
} as const

const CURRENT = 'bg-sunken font-medium text-ink'
const OTHER = 'text-muted hover:text-ink'

function Links({ texts, current, needCount, layout }: NavigationProps & { readonly layout: keyof typeof LAYOUTS }) {
  const classes = LAYOUTS[layout]
  return (
    <nav aria-label={texts.navigation}>
      <ul class={classes.list}>
        {LINKS.map(({ name, href }) => (
          <li key={name}>
            <a
              href={href}
              aria-current={current === name ? 'page' : undefined}
              class={`${classes.link} ${current === name ? CURRENT : OTHER}`}
            >
              <PlaceIcon name={name} />
              <span class={classes.label}>{texts.places[name]}</span>
              {name === 'needs' && needCount > 0 && <NeedBadge texts={texts} count={needCount} layout={layout} />}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

interface BadgeProps {
  readonly texts: Texts
  readonly count: number
  readonly layout: keyof typeof LAYOUTS
}

const BADGE_CLASSES = 'min-w-5 rounded-full bg-wait px-1.5 text-center text-[11px] leading-5 font-semibold text-paper'

function NeedBadge({ texts, count, layout }: BadgeProps) {
  const place = layout === 'side' ? 'ml-auto' : 'absolute top-1 left-1/2 ml-1.5'
  return (
    <span class={`figures ${place} ${BADGE_CLASSES}`} title={texts.needCount(count)} data-need-count={count}>
      {count > 99 ? '99+' : count}
    </span>
  )
}

function Brand({ page: { view } }: { readonly page: PageState }) {
  const isActive = view.status?.kernel.state === 'running' && view.connection === 'live'
  return (
    <a href="/" class="flex items-center gap-2.5 md:px-2">
      <Logo isActive={isActive} />
      <span class="text-[15px] font-semibold tracking-tight">Tireless</span>
    </a>
  )
}

const TONES: Readonly<Record<string, Tone>> = { live: 'live', connecting: 'other', lost: 'fault' }

function Connection({
  page: { view },
  texts,
  isShort = false,
}: {
  readonly page: PageState
  readonly texts: Texts
  readonly isShort?: boolean
}) {
  return (
    <span class="label flex items-center gap-2" data-connection={view.connection} title={texts[view.connection]}>
      <Dot tone={TONES[view.connection] ?? 'other'} pulsing={view.connection !== 'live'} />
      <span class={isShort && view.connection === 'live' ? 'sr-only' : ''}>{texts[view.connection]}</span>
    </span>
  )
}

const SWITCH_CLASSES = 'cursor-pointer rounded-md py-1 text-muted hover:text-ink'

function Switches({ texts, switchLanguage }: { readonly texts: Texts; switchLanguage(): void }) {
  const [theme, setTheme] = useState(storedTheme)
  return (
    <span class="flex items-center gap-3">
      <button
        type="button"
        class={SWITCH_CLASSES}
        aria-label={texts.themes[theme]}
        title={texts.themes[theme]}
        onClick={() => setTheme(switchTheme(theme))}
      >
        <ThemeIcon theme={theme} />
      </button>
      <button type="button" class={SWITCH_CLASSES} aria-label={texts.switchLanguage} onClick={switchLanguage}>
        {texts.language}
      </button>
    </span>
  )
}
