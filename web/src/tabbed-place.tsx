/** The frame of a place with tabs, and what a part of a place shows when its data did not come. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Card, Empty } from './components.tsx'
import { type Language, visibleText } from './format.ts'
import { SHELL_TEXTS } from './texts/shell.ts'
import type { Fetched } from './use-fetched.ts'

interface TabbedPlaceProps {
  readonly title: string
  /** What the tabs are, for screen readers. */
  readonly label: string
  readonly tabs: readonly { readonly name: string; readonly href: string; readonly text: string }[]
  /** Name of the tab that is shown. */
  readonly current: string
  readonly children: ComponentChildren
}

const TAB_CLASSES = '-mb-px block border-b-2 px-0.5 py-2 whitespace-nowrap'
const CURRENT = 'border-ink font-medium'
const OTHER = 'border-transparent text-muted hover:text-ink'

export function TabbedPlace({ title, label, tabs, current, children }: TabbedPlaceProps) {
  const shown = useRef<HTMLAnchorElement>(null)
  // On a phone the tabs may be wider than the screen.
  useEffect(() => shown.current?.scrollIntoView({ block: 'nearest', inline: 'center' }), [current])
  return (
    <div class="flex flex-col gap-5">
      <header>
        <h1 class="text-xl font-semibold tracking-tight">{title}</h1>
        <nav class="mt-1 border-b border-line" aria-label={label}>
          <ul class="flex gap-x-5 overflow-x-auto overflow-y-hidden md:flex-wrap">
            {tabs.map(({ name, href, text }) => (
              <li key={name}>
                <a
                  ref={name === current ? shown : null}
                  href={href}
                  aria-current={name === current ? 'page' : undefined}
                  class={`${TAB_CLASSES} ${name === current ? CURRENT : OTHER}`}
                >
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      {children}
    </div>
  )
}

/** Nothing while it is on the way; otherwise why it did not come. */
export function NotFetched({ language, state }: { readonly language: Language; readonly state: Fetched<unknown> }) {
  if (state.kind !== 'failed') return null
  return (
    <div data-not-fetched>
      <Card>
        <Empty>{state.code === '' ? SHELL_TEXTS[language].noAnswerFromServer : visibleText(state.reason)}</Empty>
      </Card>
    </div>
  )
}
