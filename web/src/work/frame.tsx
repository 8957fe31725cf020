/** The frame of the place Work, with its tabs. */

import type { ComponentChildren } from 'preact'
import type { Language } from '../format.ts'
import { TabbedPlace } from '../tabbed-place.tsx'
import { WORK_TEXTS } from '../texts/work.ts'

const TABS = [
  { name: 'board', href: '/work' },
  { name: 'sessions', href: '/work/sessions' },
  { name: 'queue', href: '/work/queue' },
  { name: 'workspaces', href: '/work/workspaces' },
] as const

interface FrameProps {
  readonly language: Language
  readonly tab: (typeof TABS)[number]['name']
  readonly children: ComponentChildren
}

export function WorkFrame({ language, tab, children }: FrameProps) {
  const { title, tabs: label, tabNames } = WORK_TEXTS[language]
  const tabs = TABS.map(({ name, href }) => ({ name, href, text: tabNames[name] }))
  return (
    <TabbedPlace {...{ title, label, tabs }} current={tab}>
      {children}
    </TabbedPlace>
  )
}
