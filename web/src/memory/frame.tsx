/** The frame of the place Memory: its heading, its tabs, and what is shown while there is nothing to show. */

import type { ComponentChildren } from 'preact'
import { Card, Empty } from '../components.tsx'
import { type Language, visibleText } from '../format.ts'
import { MEMORY_TEXTS } from '../texts/memory.ts'
import { SHELL_TEXTS } from '../texts/shell.ts'
import type { Fetched } from '../use-fetched.ts'

const TABS = [
  { name: 'state', href: '/memory/state' },
  { name: 'goal', href: '/memory/goal' },
  { name: 'facts', href: '/memory/facts' },
  { name: 'skills', href: '/memory/skills' },
  { name: 'documents', href: '/memory/documents' },
] as const

type MemoryTab = (typeof TABS)[number]['name']

const TAB_CLASSES = '-mb-px block border-b-2 px-0.5 py-2 whitespace-nowrap'

interface FrameProps {
  readonly language: Language
  readonly tab: MemoryTab
  readonly children: ComponentChildren
}

export function MemoryFrame({ language, tab, children }: FrameProps) {
  const own = MEMORY_TEXTS[language]
  return (
    <div class="mx-auto flex max-w-5xl flex-col gap-5">
      <header>
        <h1 class="text-xl font-semibold tracking-tight">{SHELL_TEXTS[language].places.memory}</h1>
        <nav class="mt-1 border-b border-line" aria-label={own.tabs}>
          <ul class="flex gap-x-5 overflow-x-auto">
            {TABS.map(({ name, href }) => (
              <li key={name}>
                <a
                  href={href}
                  aria-current={name === tab ? 'page' : undefined}
                  class={`${TAB_CLASSES} ${
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
export function NoMemory({ language, state }: { readonly language: Language; readonly state: Fetched<unknown> }) {
  if (state.kind !== 'failed') return null
  return (
    <Card>
      <Empty>{state.code === '' ? MEMORY_TEXTS[language].noAnswer : visibleText(state.reason)}</Empty>
    </Card>
  )
}
