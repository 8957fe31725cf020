/** The place Agents: all of them, a field in which a sentence becomes one, and the calendar. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { AgentList } from '../api-types.ts'
import { Card, Empty } from '../components.tsx'
import { OwnHomeNote } from '../shell/own-home.tsx'
import type { PlaceProps } from '../shell/place.tsx'
import { NotFetched } from '../tabbed-place.tsx'
import { AGENTS_TEXTS } from '../texts/agents.ts'
import { useFetched } from '../use-fetched.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { VirtualList } from '../virtual-list.tsx'
import { AgentRow, OtherRow, RowHeadings } from './agent-row.tsx'
import { Calendar } from './calendar.tsx'
import { AgentsFrame } from './frame.tsx'
import { Maker } from './maker.tsx'

const ROW_PX = 86
/** From this number on, the list can be searched. */
const MANY = 9

export function Agents(props: PlaceProps) {
  const { language, query } = props
  const context = useViewContext(props, 10_000)
  const tab = query.get('tab') === 'calendar' ? 'calendar' : 'list'
  const Part = tab === 'calendar' ? Calendar : AllAgents
  return (
    <AgentsFrame language={language} tab={tab}>
      <Part page={props.page} context={context} />
    </AgentsFrame>
  )
}

function AllAgents({ page, context }: Omit<TableProps, 'list'>) {
  const state = useFetched(page, '', () => readCommand('agent list'))
  return (
    <>
      <OwnHomeNote page={page} texts={context.texts} />
      <Maker page={page} context={context} />
      {state.kind === 'ready' ? (
        <AgentTable {...{ page, context }} list={state.data} />
      ) : (
        <NotFetched language={context.language} state={state} />
      )}
    </>
  )
}

interface TableProps {
  readonly page: PlaceProps['page']
  readonly context: ViewContext
  readonly list: AgentList
}

function AgentTable({ page, context, list: { items, others } }: TableProps) {
  const own = AGENTS_TEXTS[context.language]
  const [wanted, setWanted] = useState('')
  const words = wanted.toLowerCase().trim()
  const matches = (...texts: readonly string[]): boolean => texts.join(' ').toLowerCase().includes(words)
  const shown = items.filter(({ agent_id, does, when, when_zh }) => matches(agent_id, does, when, when_zh))
  const rest = others.filter(({ agent_id, kind }) => matches(agent_id, own.kinds[kind]))
  return (
    <section aria-label={own.tabNames.list}>
      {items.length + others.length >= MANY && (
        <input
          class="mb-3 w-full max-w-xs rounded-md border border-line bg-surface px-2.5 py-1.5 placeholder:text-muted"
          type="search"
          aria-label={own.filter}
          placeholder={own.filter}
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      )}
      <Card>
        <RowHeadings language={context.language} />
        {shown.length + rest.length === 0 && <Empty>{own.noMatch}</Empty>}
        <VirtualList
          count={shown.length + rest.length}
          rowHeight={ROW_PX}
          label={own.tabNames.list}
          row={(index) => {
            const [agent, other] = [shown[index], rest[index - shown.length]]
            if (agent) return <AgentRow {...{ page, context, agent }} isFirst={index === 0} />
            return other && <OtherRow {...{ page, context, other }} isFirst={index === 0} />
          }}
        />
      </Card>
    </section>
  )
}
