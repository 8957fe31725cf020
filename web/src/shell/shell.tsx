/** The frame around the places: navigation, the place of the address, toasts, title and icon. */

import { useEffect, useState } from 'preact/hooks'
import { Card } from '../components.tsx'
import type { Language } from '../format.ts'
import { countNeeds } from '../needs-you/needs.ts'
import type { PageState } from '../page-state.ts'
import { TEXTS, type Texts } from '../texts.ts'
import { BottomBar, LINKS, SideBar, TopBar } from './navigation.tsx'
import { PlaceBoundary } from './place-boundary.tsx'
import { restoreScroll } from './restore-scroll.ts'
import { followLinks, isWriting, matchPath, navigate, useAddress } from './router.ts'
import { ROUTES } from './routes.tsx'
import { ToastList } from './toasts.tsx'

interface ShellProps {
  readonly page: PageState
  readonly language: Language
  switchLanguage(): void
}

export function Shell({ page, language, switchLanguage }: ShellProps) {
  const texts = TEXTS[language]
  const { path, query } = useAddress()
  useEffect(followLinks, [])
  useEffect(followDigits, [])
  useEffect(restoreScroll, [])
  const found = ROUTES.flatMap((route) => {
    const params = matchPath(route.pattern, path)
    return params ? [{ ...route, params }] : []
  })[0]
  const needCount = countNeeds(page.view)
  useTitle(found ? texts.places[found.name] : texts.notFoundTitle, needCount)
  const navigation = { texts, current: found?.name, needCount }
  const isWide = useIsWide()
  return (
    <div class="flex min-h-dvh">
      <SkipLink texts={texts} />
      {isWide && <SideBar page={page} {...navigation} switchLanguage={switchLanguage} />}
      <div class="flex min-w-0 flex-1 flex-col">
        {!isWide && <TopBar page={page} texts={texts} switchLanguage={switchLanguage} />}
        <main
          tabIndex={-1}
          class="outline-none mx-auto w-full max-w-6xl min-w-0 flex-1 px-4 pt-3 pb-24 sm:px-8 md:pt-6 md:pb-12"
        >
          {found ? (
            <PlaceBoundary address={`${path}?${query}`} texts={texts}>
              <found.place key={found.pattern} {...{ page, texts, language, query }} params={found.params} />
            </PlaceBoundary>
          ) : (
            <NotFound texts={texts} />
          )}
        </main>
      </div>
      {!isWide && <BottomBar {...navigation} />}
      <ToastList toasts={page.toasts} texts={texts} />
    </div>
  )
}

/** For the keyboard: past the navigation, in Talk to the field. */
function SkipLink({ texts }: { readonly texts: Texts }) {
  const skip = (): void => {
    const target =
      document.querySelector<HTMLElement>('main [data-composer] textarea') ?? document.querySelector('main')
    target?.focus()
  }
  return (
    <button type="button" class={SKIP_CLASSES} onClick={skip}>
      {texts.skip}
    </button>
  )
}

const SKIP_CLASSES = [
  'sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-40 focus:rounded-md focus:border',
  'focus:border-line focus:bg-surface focus:px-3 focus:py-1.5',
].join(' ')

function NotFound({ texts }: { readonly texts: Texts }) {
  return (
    <Card class="mx-auto mt-[12vh] max-w-lg p-6">
      <h1 class="text-xl font-semibold">{texts.notFoundTitle}</h1>
      <p class="mt-1 text-muted">{texts.notFoundHelp}</p>
      <ul class="mt-4 flex flex-wrap gap-x-5 gap-y-2">
        {LINKS.map(({ name, href }) => (
          <li key={href}>
            <a class="text-link underline underline-offset-2" href={href}>
              {texts.places[name]}
            </a>
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** The keys 1, 2, 3 … 9 and 0 go to the places, unless the owner is writing. */
function followDigits(): () => void {
  const follow = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): void => {
    const link = /^\d$/.test(key) ? LINKS[(Number(key) + 9) % 10] : undefined
    if (link && !isWriting(target) && !(ctrlKey || metaKey || altKey)) navigate(link.href)
  }
  document.addEventListener('keydown', follow)
  return () => document.removeEventListener('keydown', follow)
}

const WIDE = '(min-width: 48rem)'

/** Contract: whether there is room for the navigation at the side. */
function useIsWide(): boolean {
  const [isWide, setWide] = useState(() => matchMedia(WIDE).matches)
  useEffect(() => {
    const media = matchMedia(WIDE)
    const read = (): void => setWide(media.matches)
    media.addEventListener('change', read)
    return () => media.removeEventListener('change', read)
  }, [])
  return isWide
}

const MAX_ICON_COUNT = 9

/** Title and icon of the browser's tab say how many things need the owner. */
function useTitle(place: string, needCount: number): void {
  useEffect(() => {
    document.title = `${needCount > 0 ? `(${needCount}) ` : ''}${place} · Tireless`
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    const name = needCount === 0 ? 'icon' : `icon-${needCount > MAX_ICON_COUNT ? 'more' : needCount}`
    // Images in data URLs are forbidden by the content security policy, so each number is a file.
    if (icon && !icon.href.endsWith(`/${name}.svg`)) icon.href = `/${name}.svg`
  }, [place, needCount])
}
