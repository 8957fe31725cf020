/** The frame of the place Work: its heading, its tabs, and what is shown while there is nothing to show. */

import type { ComponentChildren } from 'preact'
import { Card, Empty } from '../components.tsx'
import { type Language, visibleText } from '../format.ts'
import { WORK_TEXTS } from '../texts/work.ts'
import type { Fetched } from '../use-fetched.ts'

const TABS = [
  { name: 'board', href: '/work' },
  { name: 'sessions', href: '/work/sessions' },
  { name: 'queue', href: '/work/queue' },
  { name: 'workspaces', href: '/work/workspaces' },
] as const

type TabName = (typeof TABS)[number]['name']

interface FrameProps {
  readonly language: Language
  readonly tab: TabName
  readonly children: ComponentChildren
}

const TAB_CLASSES = '-mb-px border-b-2 px-0.5 py-2 whitespace-nowrap'

export function WorkFrame({ language, tab, children }: FrameProps) {
  const own = WORK_TEXTS[language]
  return (
    <div class="flex flex-col gap-5">
      <header>
        <h1 class="text-xl font-semibold tracking-tight">{own.title}</h1>
        <nav class="mt-1 border-b border-line" aria-label={own.tabs}>
          <ul class="flex gap-x-5 overflow-x-auto overflow-y-hidden">
            {TABS.map(({ name, href }) => (
              <li key={name}>
                <a
                  href={href}
                  aria-current={name === tab ? 'page' : undefined}
                  class={`block ${TAB_CLASSES} ${
                    name === tab ? 'border-ink font-medium' : 'border-transparent text-muted hover:text-ink'
                  }`}
                >
                  {own.tabNames[name]}
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

/** What is shown instead of data: nothing yet, or why there is none. */
export function NotFetched({ language, state }: { readonly language: Language; readonly state: Fetched<unknown> }) {
  const own = WORK_TEXTS[language]
  if (state.kind !== 'failed') return null
  const reason = state.code === '' ? own.noAnswer : visibleText(state.reason)
  return (
    <Card>
      <Empty>{reason}</Empty>
    </Card>
  )
}
