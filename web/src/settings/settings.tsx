/** The place Settings: one part at a time, each with an address of its own. */

import type { FunctionComponent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Card, Empty } from '../components.tsx'
import type { PlaceProps } from '../shell/place.tsx'
import type { SETTINGS_TEXTS } from '../texts/settings/common.ts'
import { Backup } from './backup.tsx'
import { Budget } from './budget.tsx'
import { Channels } from './channels.tsx'
import { Doctor } from './doctor.tsx'
import { General } from './general.tsx'
import { Logs } from './logs.tsx'
import { Models } from './models.tsx'
import { commonTexts, type PartProps } from './parts.ts'
import { Plugins } from './plugins.tsx'
import { Policy } from './policy.tsx'
import { Servers } from './servers.tsx'

type PartName = keyof (typeof SETTINGS_TEXTS)['en']['partNames']

const PARTS: Readonly<Record<PartName, FunctionComponent<PartProps>>> = {
  general: General,
  models: Models,
  channels: Channels,
  mcp: Servers,
  plugins: Plugins,
  policy: Policy,
  budget: Budget,
  doctor: Doctor,
  logs: Logs,
  backup: Backup,
}

const TAB_CLASSES = '-mb-px block border-b-2 px-0.5 py-2 whitespace-nowrap'

export function Settings({ params, ...props }: PlaceProps) {
  const own = commonTexts(props)
  const name = params.part ?? 'general'
  const Part = Object.hasOwn(PARTS, name) ? PARTS[name as PartName] : undefined
  const current = useRef<HTMLAnchorElement>(null)
  // On a phone the tabs are wider than the screen.
  useEffect(() => current.current?.scrollIntoView({ block: 'nearest', inline: 'center' }), [name])
  return (
    <div class="flex flex-col gap-5">
      <header>
        <h1 class="text-xl font-semibold tracking-tight">{own.title}</h1>
        <nav class="mt-1 border-b border-line" aria-label={own.parts}>
          <ul class="flex gap-x-5 overflow-x-auto overflow-y-hidden md:flex-wrap">
            {(Object.keys(PARTS) as PartName[]).map((part) => (
              <li key={part}>
                <a
                  ref={part === name ? current : null}
                  href={part === 'general' ? '/settings' : `/settings/${part}`}
                  aria-current={part === name ? 'page' : undefined}
                  class={`${TAB_CLASSES} ${
                    part === name ? 'border-ink font-medium' : 'border-transparent text-muted hover:text-ink'
                  }`}
                >
                  {own.partNames[part]}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      {Part ? (
        <Part key={name} {...props} />
      ) : (
        <Card>
          <Empty>{own.unknownPart}</Empty>
        </Card>
      )}
    </div>
  )
}
