/** A line of the list: what an agent does, when, what came of it last, what it costs; switch it and run it. */

import type { ComponentChildren } from 'preact'
import type { AgentEntry, AgentList } from '../api-types.ts'
import { Button, Dot, toneOf } from '../components.tsx'
import { type Language, money, oneLine, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { AGENTS_TEXTS } from '../texts/agents.ts'
import { describeError } from '../texts/error-reasons.ts'
import type { ViewContext } from '../view-context.ts'
import { Switch } from './switch.tsx'

/** On a phone the parts of a line stand below each other. */
const COLUMNS = 'lg:grid-cols-[minmax(0,5fr)_minmax(0,3fr)_minmax(0,3fr)_4.5rem_9.5rem]'
const ROW_CLASSES = `grid grid-cols-2 items-start gap-x-4 gap-y-2 px-4 py-3 ${COLUMNS}`
const rowClasses = (isFirst: boolean): string => (isFirst ? ROW_CLASSES : `${ROW_CLASSES} border-t border-line`)
const HEAD_CLASSES = `label hidden gap-x-4 border-b border-line px-4 py-2 lg:grid ${COLUMNS}`

export function RowHeadings({ language }: { readonly language: Language }) {
  const { what, when, last, week } = AGENTS_TEXTS[language].columns
  return (
    <div class={HEAD_CLASSES} aria-hidden="true">
      <span>{what}</span>
      <span>{when}</span>
      <span>{last}</span>
      <span class="text-right">{week}</span>
    </div>
  )
}

interface RowProps {
  readonly page: PageState
  readonly context: ViewContext
  readonly agent: AgentEntry
  readonly isFirst: boolean
}

export const agentHref = (id: string): string => `/agents/${encodeURIComponent(id)}`

export function AgentRow({ page, context, agent, isFirst }: RowProps) {
  const { language } = context
  const own = AGENTS_TEXTS[language]
  const { agent_id, enabled, on_call, does, uses_model } = agent
  return (
    <div class={rowClasses(isFirst)} data-agent={agent_id} data-enabled={enabled}>
      <What id={agent_id} kind={on_call ? own.kinds.on_call : undefined} does={does} model={uses_model} />
      <When context={context} agent={agent} />
      <Last context={context} agent={agent} />
      <Cost language={language} usd={agent.usd_week} />
      <span class="flex items-center justify-end gap-3">
        {!on_call && <RunNow page={page} language={language} id={agent_id} />}
        {!on_call && <EnableSwitch {...{ page, language, agent }} />}
      </span>
    </div>
  )
}

interface OtherProps extends Omit<RowProps, 'agent'> {
  readonly other: AgentList['others'][number]
}

/** A resident, or the built-in agent: both are set up elsewhere. */
export function OtherRow({ page, context: { language, now }, other, isFirst }: OtherProps) {
  const { agent_id, kind, usd_week } = other
  const own = AGENTS_TEXTS[language]
  const resident = page.view.status?.residents.find((one) => one.agent_id === agent_id)
  const looked = resident?.last_look ?? null
  return (
    <div class={rowClasses(isFirst)} data-agent={agent_id} data-kind={kind}>
      <What id={agent_id} kind={own.kinds[kind]} does={resident?.goals.join(' · ') ?? own.builtIn} />
      <span class="min-w-0">{resident ? own.residentWhen(String(Number(resident.hz.toFixed(3)))) : ''}</span>
      <span class="label min-w-0">{looked === null ? '' : relativeTime(Date.parse(looked), now, language)}</span>
      <Cost language={language} usd={usd_week} />
    </div>
  )
}

interface WhatProps {
  readonly id: string
  readonly kind: string | undefined
  readonly does: string
  readonly model?: string
}

function What({ id, kind, does, model }: WhatProps) {
  return (
    <div class="col-span-2 min-w-0 lg:col-span-1">
      <a class="font-medium wrap-anywhere hover:underline" href={agentHref(id)}>
        {visibleText(id)}
      </a>
      {kind !== undefined && <Chip>{kind}</Chip>}
      <p class="line-clamp-2 wrap-anywhere text-muted">{visibleText(oneLine(does))}</p>
      {model !== undefined && <p class="label truncate font-mono">{visibleText(model)}</p>}
    </div>
  )
}

export const Chip = ({ children }: { readonly children: ComponentChildren }) => (
  <span class="ml-2 rounded-md border border-line px-1.5 text-[12px] leading-5 whitespace-nowrap text-muted">
    {children}
  </span>
)

function When({ context: { language, now }, agent }: Omit<RowProps, 'page' | 'isFirst'>) {
  const own = AGENTS_TEXTS[language]
  const { enabled, on_call, next_at, only_on_change } = agent
  const say = only_on_change ? own.checks : own.next
  const next = next_at === null ? own.nothingNext : say(relativeTime(Date.parse(next_at), now, language))
  return (
    <div class="min-w-0">
      <p class={`wrap-anywhere first-letter:uppercase ${enabled || on_call ? '' : 'text-muted'}`}>
        {language === 'zh' ? agent.when_zh : agent.when}
      </p>
      {!on_call && <p class="label figures">{enabled ? next : own.off}</p>}
    </div>
  )
}

function Last({ context: { texts, language, now }, agent }: Omit<RowProps, 'page' | 'isFirst'>) {
  const { last_status, last_run_at, last_run_id, last_error } = agent
  if (last_status === null || last_run_id === null || last_run_at === null)
    return <span class="label min-w-0">{AGENTS_TEXTS[language].neverRan}</span>
  return (
    <div class="min-w-0">
      <a class="flex items-center gap-2 hover:underline" href={`/runs/${encodeURIComponent(last_run_id)}`}>
        <Dot tone={toneOf(last_status)} pulsing={last_status === 'running'} />
        <span class="min-w-0">
          {texts.statuses[last_status] ?? last_status}{' '}
          <span class="label figures whitespace-nowrap">{relativeTime(Date.parse(last_run_at), now, language)}</span>
        </span>
      </a>
      {last_error !== null && (
        <p class="label line-clamp-2 wrap-anywhere" title={visibleText(last_error)}>
          {oneLine(describeError(last_error, language))}
        </p>
      )}
    </div>
  )
}

const Cost = ({ language, usd }: { readonly language: Language; readonly usd: number }) => (
  <span class={`figures text-left lg:text-right ${usd === 0 ? 'text-muted' : ''}`}>
    <span class="label lg:sr-only">{AGENTS_TEXTS[language].columns.week} </span>
    {money(usd, language)}
  </span>
)

interface ButtonProps {
  readonly page: PageState
  readonly language: Language
  readonly id: string
}

/** Contract: the run is queued when the button is free again; what came of it is in the list. */
export function RunNow({ page, language, id }: ButtonProps) {
  const own = AGENTS_TEXTS[language]
  const busy = `agent run ${id}`
  const run = () => page.run('agent run', { id, detach: true }, { busy, done: own.started(visibleText(id)) })
  return (
    <Button busy={page.view.busy.has(busy)} title={own.runOf(visibleText(id))} onClick={() => void run()}>
      {own.run}
    </Button>
  )
}

interface EnableProps extends Omit<ButtonProps, 'id'> {
  readonly agent: Pick<AgentEntry, 'agent_id' | 'enabled'>
}

export function EnableSwitch({ page, language, agent: { agent_id: id, enabled } }: EnableProps) {
  const own = AGENTS_TEXTS[language]
  const busy = `agent switch ${id}`
  const change = () =>
    page.run(
      enabled ? 'agent disable' : 'agent enable',
      { id },
      { busy, done: (enabled ? own.disabled : own.enabled)(visibleText(id)) },
    )
  return (
    <Switch
      label={own.enable(visibleText(id))}
      isOn={enabled}
      busy={page.view.busy.has(busy)}
      onChange={() => void change()}
    />
  )
}
