/** The frame of the place Memory, with its tabs. */

import type { ComponentChildren } from 'preact'
import type { Language } from '../format.ts'
import { TabbedPlace } from '../tabbed-place.tsx'
import { MEMORY_TEXTS } from '../texts/memory.ts'
import { SHELL_TEXTS } from '../texts/shell.ts'

const TABS = ['state', 'goal', 'facts', 'skills', 'documents'] as const

interface FrameProps {
  readonly language: Language
  readonly tab: (typeof TABS)[number]
  readonly children: ComponentChildren
}

export function MemoryFrame({ language, tab, children }: FrameProps) {
  const { tabs: label, tabNames } = MEMORY_TEXTS[language]
  const tabs = TABS.map((name) => ({ name, href: `/memory/${name}`, text: tabNames[name] }))
  return (
    <div class="mx-auto w-full max-w-5xl">
      <TabbedPlace title={SHELL_TEXTS[language].places.memory} {...{ label, tabs }} current={tab}>
        {children}
      </TabbedPlace>
    </div>
  )
}
