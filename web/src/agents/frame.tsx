/** The frame of the place Agents: its heading, its tabs, and what is shown while there is nothing to show. */

import type { ComponentChildren } from 'preact'
import { Card, Empty } from '../components.tsx'
import { type Language, visibleText } from '../format.ts'
import { AGENTS_TEXTS } from '../texts/agents.ts'
import type { Fetched } from '../use-fetched.ts'

const TABS = [
  { name: 'list', href: '/agents' },
  { name: 'calendar', href: '/agents?tab=calendar' },
] as const

type AgentsTab = (typeof TABS)[number]['name']

const TAB_CLASSES = '-mb-px block border-b-2 px-0.5 py-2 whitespace-nowrap'
const CURRENT = 'border-ink font-medium'
const OTHER = 'border-transparent text-muted hover:text-ink'

interface FrameProps {
  readonly language: Language
  readonly tab: AgentsTab
  readonly children: ComponentChildren
}

export function AgentsFrame({ language, tab, children }: FrameProps) {
  const own = AGENTS_TEXTS[language]
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
                  class={`${TAB_CLASSES} ${name === tab ? CURRENT : OTHER}`}
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
export function NoAgents({ language, state }: { readonly language: Language; readonly state: Fetched<unknown> }) {
  if (state.kind !== 'failed') return null
  return (
    <Card>
      <Empty>{state.code === '' ? AGENTS_TEXTS[language].noAnswer : visibleText(state.reason)}</Empty>
    </Card>
  )
}
