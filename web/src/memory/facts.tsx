/** What agents noted for later: searched, with origin and label, and forgotten for good. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import { Card, Empty } from '../components.tsx'
import { count } from '../format.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { navigate } from '../shell/router.ts'
import { MEMORY_TEXTS, type MemoryTexts } from '../texts/memory.ts'
import { useViewContext } from '../view-context.ts'
import { VirtualList } from '../virtual-list.tsx'
import { type ListWindow, useWindowedList } from '../windowed-list.ts'
import { type FactEntry, FactRow } from './fact-row.tsx'
import { MemoryFrame } from './frame.tsx'

/** A search gives the best matches; more would be too many to read. */
const MAX_FOUND = 200

interface FactFilter {
  readonly query: string
  readonly agent: string
  readonly hasEnded: boolean
}

const readFilter = (query: URLSearchParams): FactFilter => ({
  query: query.get('q') ?? '',
  agent: query.get('agent') ?? '',
  hasEnded: query.get('ended') === '1',
})

function applyFilter({ query, agent, hasEnded }: FactFilter): void {
  const set = new URLSearchParams()
  if (query !== '') set.set('q', query)
  if (agent !== '') set.set('agent', agent)
  if (hasEnded) set.set('ended', '1')
  navigate(set.size === 0 ? '/memory/facts' : `/memory/facts?${set}`, { replace: true })
}

async function fetchFacts(filter: FactFilter, offset: number, limit: number): Promise<ListWindow<FactEntry>> {
  const { query, hasEnded } = filter
  const agent = filter.agent === '' ? {} : { agent: filter.agent }
  if (query.trim() === '') return readCommand('memory list', { ...agent, all: hasEnded, offset, limit })
  const { items } = await readCommand('memory search', { ...agent, query: query.trim(), limit: MAX_FOUND })
  return { items: items.slice(offset, offset + limit), total: items.length }
}

export function Facts(props: PlaceProps) {
  const { page, language } = props
  const own = MEMORY_TEXTS[language]
  const context = useViewContext(props, 15_000)
  const filter = readFilter(props.query)
  const facts = useWindowedList(page, JSON.stringify(filter), (offset, limit) => fetchFacts(filter, offset, limit))
  const [open, setOpen] = useState<string>()
  const { total = 0 } = facts
  return (
    <MemoryFrame language={language} tab="facts">
      <p class="text-muted">{own.factsHelp}</p>
      <Filters own={own} filter={filter} agents={page.view.status?.agents.map(({ agent_id }) => agent_id) ?? []} />
      <div>
        {total > 0 && <p class="label mb-2 px-1">{own.factCount(count(total, language))}</p>}
        <Card>
          {facts.total === 0 && <Empty>{filter.query === '' ? own.noFacts : own.noFactsFound}</Empty>}
          <VirtualList
            {...{ count: total, rowHeight: 92, label: own.tabNames.facts, onRange: facts.showRange }}
            row={(index) => {
              const fact = facts.itemAt(index)
              if (!fact) return <div class="h-[92px]" />
              const toggle = (): void => setOpen(open === fact.id ? undefined : fact.id)
              return (
                <div class={index === 0 ? '' : 'border-t border-line'}>
                  <FactRow {...{ context, page, own, fact }} isOpen={open === fact.id} onToggle={toggle} />
                </div>
              )
            }}
          />
        </Card>
      </div>
    </MemoryFrame>
  )
}

interface FiltersProps {
  readonly own: MemoryTexts
  readonly filter: FactFilter
  readonly agents: readonly string[]
}

const FIELD_CLASSES = 'min-w-0 rounded-md border border-line bg-surface px-2.5 py-1.5'

function Filters({ own, filter, agents }: FiltersProps) {
  const names = [...new Set([...agents, ...(filter.agent === '' ? [] : [filter.agent])])]
  return (
    <div class="flex flex-wrap items-center gap-x-4 gap-y-2">
      <input
        type="search"
        class={`${FIELD_CLASSES} flex-1 basis-48 placeholder:text-muted`}
        aria-label={own.searchFacts}
        placeholder={own.searchFacts}
        value={filter.query}
        onInput={({ currentTarget }) => applyFilter({ ...filter, query: currentTarget.value })}
      />
      <select
        class={`${FIELD_CLASSES} max-w-48`}
        aria-label={own.ofAgent}
        value={filter.agent}
        onChange={({ currentTarget }) => applyFilter({ ...filter, agent: currentTarget.value })}
      >
        <option value="">{own.everyAgent}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <label class="label flex cursor-pointer items-center gap-2">
        <input
          type="checkbox"
          checked={filter.hasEnded}
          disabled={filter.query !== ''}
          onChange={() => applyFilter({ ...filter, hasEnded: !filter.hasEnded })}
        />
        {own.endedToo}
      </label>
    </div>
  )
}
