/** The part Log of Settings: searched on the server, drawn window by window, followed live. */

import { useEffect, useState } from 'preact/hooks'
import { Card, Chevron, Dot, Empty, type Tone } from '../components.tsx'
import { clockTime, jsonLine, visibleText } from '../format.ts'
import { LOG_TEXTS } from '../texts/settings/logs.ts'
import { VirtualList } from '../virtual-list.tsx'
import { CheckField, ChoiceField, TextField } from './form.tsx'
import { FactList } from './frame.tsx'
import { type LogItem, type LogLevel, useLogEntries } from './log-entries.ts'
import type { PartProps } from './parts.ts'

const ROW_PX = 37
/** People type faster than the log is searched. */
const TYPING_MS = 300
/** Rows before the end of what was fetched at which the next window is fetched. */
const AHEAD = 30

export function Logs(props: PartProps) {
  const { page, language } = props
  const own = LOG_TEXTS[language]
  const [level, setLevel] = useState<LogLevel>('info')
  const [typed, setTyped] = useState('')
  const [follows, setFollows] = useState(true)
  const text = useSettled(typed.trim(), TYPING_MS)
  const entries = useLogEntries(page, { level, text }, follows)
  const { items, hasMore } = entries
  return (
    <div class="flex flex-col gap-4">
      <p class="max-w-2xl text-muted">{own.intro}</p>
      <search class="grid items-start gap-x-5 gap-y-3 sm:grid-cols-[minmax(0,1fr)_auto_auto]">
        <TextField label={own.search} value={typed} placeholder={own.searchHelp} onChange={setTyped} />
        <ChoiceField
          label={own.level}
          value={level}
          choices={Object.entries(own.levels) as [LogLevel, string][]}
          onChange={(chosen) => setLevel(chosen)}
        />
        <div class="sm:pt-7">
          <CheckField label={own.follow} isChecked={follows} onChange={setFollows} />
        </div>
      </search>
      {items && (
        <Card>
          {items.length === 0 && <Empty>{text === '' && level === 'info' ? own.empty : own.noMatch}</Empty>}
          <VirtualList
            count={items.length}
            rowHeight={ROW_PX}
            label={own.list}
            onRange={(_, last) => {
              if (last > items.length - AHEAD) void entries.fetchOlder().catch(() => {})
            }}
            row={(index) => <LogRow key={items[index]?.id} {...props} item={items[index]} />}
          />
          {hasMore && <p class="label px-4 py-2">{own.loading}</p>}
        </Card>
      )}
    </div>
  )
}

/** Contract: the value once it has not changed for a while. */
function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/** Ids say the least, so they come last. */
const isId = (name: string): boolean => name.endsWith('_id')

const TONES: Readonly<Record<string, Tone>> = { info: 'other', warn: 'wait', error: 'fault' }

function LogRow({ item, page, language }: PartProps & { readonly item: LogItem | undefined }) {
  const [isOpen, setOpen] = useState(false)
  if (!item) return null
  const own = LOG_TEXTS[language]
  const { id: _, ts, level, event, ...details } = item
  const entries = Object.entries(details).toSorted(([a], [b]) => Number(isId(a)) - Number(isId(b)))
  const { run_id } = details
  return (
    <div class={`border-b border-line ${isOpen ? 'group' : ''}`} data-log={level}>
      <button
        type="button"
        class="flex w-full cursor-pointer items-center gap-3 px-4 py-2 text-left hover:bg-sunken"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Dot tone={TONES[level] ?? 'other'} />
        <span class="sr-only">{own.names[level] ?? visibleText(level)}</span>
        <time class="figures label shrink-0" dateTime={ts}>
          {clockTime(Date.parse(ts), Date.now() + page.view.skew, language)}
        </time>
        <span class="max-w-[60%] shrink-0 truncate">{visibleText(event)}</span>
        <span class="hidden min-w-0 flex-1 truncate text-muted sm:block">
          {visibleText(entries.map(([name, value]) => `${name}=${jsonLine(value)}`).join(' '))}
        </span>
        <span class={`ml-auto text-muted ${isOpen ? 'rotate-90' : ''}`}>
          <Chevron />
        </span>
      </button>
      {isOpen && (
        <div class="flex flex-col gap-2 px-4 pb-3 text-[13px]">
          <FactList
            facts={entries.map(([name, value]) => [visibleText(name), visibleText(jsonLine(value))] as const)}
          />
          {typeof run_id === 'string' && (
            <a class="label text-link underline underline-offset-2" href={`/runs/${encodeURIComponent(run_id)}`}>
              {own.openRun}
            </a>
          )}
        </div>
      )}
    </div>
  )
}
