/** Search field and filters of the list of runs. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import { visibleText } from '../format.ts'
import { navigate } from '../shell/router.ts'
import { type RunFilter, STATUSES, toSearch } from './run-filter.ts'
import type { RunsContext } from './runs-context.ts'

const FIELD_CLASSES = 'h-9 min-w-0 rounded-md border border-line bg-surface px-3 placeholder:text-muted'
/** Pause in writing after which the search starts. */
const WRITING_MS = 250

interface FiltersProps {
  readonly context: RunsContext
  readonly filter: RunFilter
}

export function Filters({ context: { texts, own }, filter }: FiltersProps) {
  const agents = useAgents(filter.agent)
  const change = (changed: Partial<RunFilter>): void => {
    const search = toSearch({ ...filter, ...changed })
    navigate(`/runs${search === '' ? '' : `?${search}`}`, { replace: true })
  }
  return (
    <search class="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      <SearchField label={own.search} value={filter.q} onChange={(q) => change({ q })} />
      <select
        class={FIELD_CLASSES}
        aria-label={own.agent}
        value={filter.agent}
        onChange={({ currentTarget }) => change({ agent: currentTarget.value })}
      >
        <option value="">{own.anyAgent}</option>
        {agents.map((agent) => (
          <option key={agent} value={agent}>
            {visibleText(agent)}
          </option>
        ))}
      </select>
      <select
        class={FIELD_CLASSES}
        aria-label={own.status}
        value={filter.status}
        onChange={({ currentTarget }) => change({ status: currentTarget.value })}
      >
        <option value="">{own.anyStatus}</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {texts.statuses[status] ?? status}
          </option>
        ))}
      </select>
      <input
        class={`${FIELD_CLASSES} col-span-2`}
        type="date"
        aria-label={own.day}
        value={filter.day}
        onChange={({ currentTarget }) => change({ day: currentTarget.value })}
      />
    </search>
  )
}

interface SearchFieldProps {
  readonly label: string
  readonly value: string
  onChange(value: string): void
}

/** Searches when the owner pauses in writing, at once with Enter. */
function SearchField({ label, value, onChange }: SearchFieldProps) {
  const [written, setWritten] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // Another address, as after `Back`, is another text.
  useEffect(() => setWritten(value), [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const write = (text: string, ms: number): void => {
    setWritten(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onChange(text), ms)
  }
  return (
    <input
      class={`${FIELD_CLASSES} col-span-2 sm:flex-1`}
      type="search"
      placeholder={label}
      aria-label={label}
      value={written}
      onInput={({ currentTarget }) => write(currentTarget.value, WRITING_MS)}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && write(currentTarget.value, 0)}
    />
  )
}

/** The agents that there are, and the one of the filter, which may no longer exist. */
function useAgents(chosen: string): readonly string[] {
  const [agents, setAgents] = useState<readonly string[]>([])
  useEffect(() => {
    readCommand('agent list').then(
      ({ items }) => setAgents(items.map(({ agent_id }) => agent_id)),
      () => {},
    )
  }, [])
  return [...new Set([...agents, 'default', ...(chosen === '' ? [] : [chosen])])]
}
