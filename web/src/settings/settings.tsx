/** The place Settings: one part at a time, each with an address of its own. */

import type { FunctionComponent } from 'preact'
import { Card, Empty } from '../components.tsx'
import { OwnHomeNote } from '../shell/own-home.tsx'
import type { PlaceProps } from '../shell/place.tsx'
import { TabbedPlace } from '../tabbed-place.tsx'
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

const PART_NAMES = Object.keys(PARTS) as PartName[]

export function Settings({ params, ...props }: PlaceProps) {
  const own = commonTexts(props)
  const name = params.part ?? 'general'
  const Part = Object.hasOwn(PARTS, name) ? PARTS[name as PartName] : undefined
  const tabs = PART_NAMES.map((part) => ({
    ...{ name: part, href: part === 'general' ? '/settings' : `/settings/${part}`, text: own.partNames[part] },
  }))
  return (
    <TabbedPlace title={own.title} label={own.parts} tabs={tabs} current={name}>
      <OwnHomeNote page={props.page} texts={props.texts} />
      {Part ? (
        <Part key={name} {...props} />
      ) : (
        <Card>
          <Empty>{own.unknownPart}</Empty>
        </Card>
      )}
    </TabbedPlace>
  )
}
