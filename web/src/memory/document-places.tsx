/** The places of single documents: the state, the goal, and the others by name. */

import { Card, Empty } from '../components.tsx'
import type { PlaceProps } from '../shell/place.tsx'
import { useViewContext } from '../view-context.ts'
import { DocumentView } from './document.tsx'
import { MemoryFrame } from './frame.tsx'
import type { DocumentName } from './versions.ts'

const NAMES: readonly DocumentName[] = ['STATE.md', 'GOAL.md', 'INIT.md', 'SYSTEM_PROMPT.md']
const TABS = { 'STATE.md': 'state', 'GOAL.md': 'goal' } as const

/** Contract: where a document is shown. */
export const addressOf = (name: DocumentName): string =>
  name === 'STATE.md' || name === 'GOAL.md' ? `/memory/${TABS[name]}` : `/memory/documents/${name}`

export const StatePlace = (props: PlaceProps) => <DocumentPlace {...props} params={{ name: 'STATE.md' }} />
export const GoalPlace = (props: PlaceProps) => <DocumentPlace {...props} params={{ name: 'GOAL.md' }} />

/** The document is named in the address. */
export function DocumentPlace(props: PlaceProps) {
  const { page, texts, language, params, query } = props
  const context = useViewContext(props, 15_000)
  const name = NAMES.find((each) => each === params.name)
  const tab = name === 'STATE.md' || name === 'GOAL.md' ? TABS[name] : 'documents'
  return (
    <MemoryFrame language={language} tab={tab}>
      {name === undefined ? (
        <Card>
          <Empty>{texts.notFoundTitle}</Empty>
        </Card>
      ) : (
        <DocumentView
          key={name}
          {...{ context, page, name }}
          href={addressOf(name)}
          isEditing={query.get('edit') === '1'}
        />
      )}
    </MemoryFrame>
  )
}
