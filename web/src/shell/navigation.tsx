/** Navigation between the places: at the side on a desktop, at the bottom on a phone; switches and connection. */

import { useEffect, useState } from 'preact/hooks'
import { Dot, Logo, type Tone } from '../components.tsx'
import type { PageState } from '../page-state.ts'
import type { Texts } from '../texts.ts'
import { PlaceIcon, ThemeIcon } from './icons.tsx'
import type { PlaceName } from './routes.tsx'
import { storedTheme, switchTheme } from './theme.ts'

interface Link {
  readonly name: PlaceName
  readonly href: string
}

export const LINKS: readonly Link[] = [
  { name: 'talk', href: '/' },
  { name: 'needs', href: '/needs-you' },
  { name: 'now', href: '/now' },
  { name: 'runs', href: '/runs' },
  { name: 'work', href: '/work' },
  { name: 'agents', href: '/agents' },
  { name: 'memory', href: '/memory' },
  { name: 'costs', href: '/costs' },
  { name: 'reports', href: '/reports' },
  { name: 'settings', href: '/settings' },
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
    list: 'grid auto-cols-fr grid-flow-col',
    link: 'relative flex w-full flex-col items-center gap-0.5 px-1 pt-2 pb-1.5',
    label: 'max-w-full truncate text-[11px] leading-4',
  },
} as const

type Layout = keyof typeof LAYOUTS

/** Places at the bottom of a phone beside `More`, which shows the others. */
const BOTTOM_COUNT = 4

const CURRENT = 'bg-sunken font-medium text-ink'
const OTHER = 'text-muted hover:text-ink'

function Links({ layout, ...navigation }: NavigationProps & { readonly layout: Layout }) {
  const shown = layout === 'side' || LINKS.length <= BOTTOM_COUNT + 1 ? LINKS : LINKS.slice(0, BOTTOM_COUNT)
  return (
    <nav aria-label={navigation.texts.navigation}>
      <ul class={LAYOUTS[layout].list}>
        {shown.map((link) => (
          <li key={link.name}>
            <PlaceLink link={link} layout={layout} {...navigation} />
          </li>
        ))}
        {shown.length < LINKS.length && (
          <li>
            <More links={LINKS.slice(shown.length)} {...navigation} />
          </li>
        )}
      </ul>
    </nav>
  )
}

interface PlaceLinkProps extends NavigationProps {
  readonly link: Link
  readonly layout: Layout
}

function PlaceLink({ link: { name, href }, texts, current, needCount, layout }: PlaceLinkProps) {
  const { link, label } = LAYOUTS[layout]
  const isCurrent = current === name
  return (
    <a href={href} aria-current={isCurrent ? 'page' : undefined} class={`${link} ${isCurrent ? CURRENT : OTHER}`}>
      <PlaceIcon name={name} />
      <span class={label}>{texts.places[name]}</span>
      {name === 'needs' && needCount > 0 && <NeedBadge texts={texts} count={needCount} layout={layout} />}
    </a>
  )
}

const MORE_CLASSES = 'absolute right-2 bottom-full mb-2 w-48 rounded-xl border border-line bg-surface p-1.5 shadow-lg'

/** The places that have no room at the bottom of a phone. */
function More({ links, ...navigation }: NavigationProps & { readonly links: readonly Link[] }) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (!isOpen) return
    const close = (event: Event): void => {
      if (!(event instanceof KeyboardEvent) || event.key === 'Escape') setOpen(false)
    }
    document.addEventListener('click', close)
    document.addEventListener('keydown', close)
    return () => {
      document.removeEventListener('click', close)
      document.removeEventListener('keydown', close)
    }
  }, [isOpen])
  const { link, label } = LAYOUTS.bottom
  const isCurrent = links.some(({ name }) => name === navigation.current)
  const classes = `${link} cursor-pointer ${isCurrent ? CURRENT : OTHER}`
  return (
    <>
      <button type="button" class={classes} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <PlaceIcon name="more" />
        <span class={label}>{navigation.texts.morePlaces}</span>
      </button>
      {isOpen && (
        <ul class={MORE_CLASSES}>
          {links.map((each) => (
            <li key={each.name}>
              <PlaceLink link={each} layout="side" {...navigation} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

interface BadgeProps {
  readonly texts: Texts
  readonly count: number
  readonly layout: Layout
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

const TONES = { live: 'live', connecting: 'other', lost: 'fault', incomplete: 'wait' } as const satisfies Record<
  string,
  Tone
>

function Connection({
  page: { view },
  texts,
  isShort = false,
}: {
  readonly page: PageState
  readonly texts: Texts
  readonly isShort?: boolean
}) {
  const state = view.connection === 'live' && view.isIncomplete ? 'incomplete' : view.connection
  return (
    <span class="label flex items-center gap-2" data-connection={state} title={texts[state]}>
      <Dot tone={TONES[state]} pulsing={state !== 'live'} />
      <span class={isShort && state === 'live' ? 'sr-only' : ''}>{texts[state]}</span>
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
