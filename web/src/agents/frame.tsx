/** The frame of the place Agents, with its tabs. */

import type { ComponentChildren } from 'preact'
import type { Language } from '../format.ts'
import { TabbedPlace } from '../tabbed-place.tsx'
import { AGENTS_TEXTS } from '../texts/agents.ts'

const TABS = [
  { name: 'list', href: '/agents' },
  { name: 'calendar', href: '/agents?tab=calendar' },
] as const

interface FrameProps {
  readonly language: Language
  readonly tab: (typeof TABS)[number]['name']
  readonly children: ComponentChildren
}

export function AgentsFrame({ language, tab, children }: FrameProps) {
  const { title, tabs: label, tabNames } = AGENTS_TEXTS[language]
  const tabs = TABS.map(({ name, href }) => ({ name, href, text: tabNames[name] }))
  return (
    <TabbedPlace {...{ title, label, tabs }} current={tab}>
      {children}
    </TabbedPlace>
  )
}
