/** The head of a run: title, state, what it used, and what can be done with it. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Wait } from '../../../src/domain/wait.ts'
import { Button, Dot, toneOf } from '../components.tsx'
import { clockTime, count, duration, money, relativeTime, shortTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { UndoButton } from '../talk/undo.tsx'
import { sayTitle } from '../texts/errors.ts'
import { describeStop } from '../texts/reasons.ts'
import { CompareDialog } from './compare-dialog.tsx'
import { ForkDialog } from './fork-dialog.tsx'
import { type RunsContext, runAddress } from './runs-context.ts'
import { isEnded, type RunTrace } from './use-trace.ts'

interface RunHeaderProps {
  readonly context: RunsContext
  readonly page: PageState
  readonly trace: RunTrace
}

export function RunHeader(props: RunHeaderProps) {
  const { context, trace } = props
  const { texts, own, language } = context
  const { dispatch } = trace
  const { status, undone_by, session_id } = dispatch
  const isAsking = props.page.view.approvals.some((approval) => approval.session_id === session_id)
  return (
    <header class="flex min-w-0 flex-col gap-4" data-run-page={dispatch.dispatch_id} data-status={status}>
      <div class="min-w-0">
        <h1 class="line-clamp-3 text-xl font-semibold tracking-tight wrap-anywhere">
          {visibleText(sayTitle(dispatch.title, language))}
        </h1>
        <p class="mt-1 flex flex-wrap items-center gap-x-2 text-muted">
          <Dot tone={toneOf(status)} pulsing={status === 'running'} />
          <span>{texts.statuses[status] ?? status}</span>
          {undone_by !== null && <span>· {own.undone}</span>}
          {status === 'pending' && !hasStarted(trace) && <span>· {own.notStarted}</span>}
          {status === 'running' && <span>· {own.live}</span>}
          {status === 'waiting' && dispatch.wait && (
            <span class="wrap-anywhere">· {isAsking ? own.asks : describeWait(dispatch.wait, context)}</span>
          )}
        </p>
      </div>
      <Facts {...props} />
      <Task context={context} prompt={dispatch.prompt} title={dispatch.title} />
      <Actions {...props} />
    </header>
  )
}

function describeWait({ kind, until, reason }: Wait, { own, language, now }: RunsContext): string {
  return kind === 'start' ? own.startsAt(shortTime(until, now, language)) : visibleText(describeStop(reason, language))
}

/** A fork has the records of its first steps before it starts. */
const hasStarted = ({ dispatch, manifest }: RunTrace): boolean =>
  dispatch.status === 'running' || (manifest?.started_at ?? null) !== null

function Times({ context, trace }: Pick<RunHeaderProps, 'context' | 'trace'>) {
  const { own, language, now } = context
  const { dispatch, manifest } = trace
  const { status, wait } = dispatch
  if (!hasStarted(trace))
    return (
      <Fact label={own.labels.starts}>
        {wait?.kind === 'start' ? shortTime(wait.until, now, language) : status === 'pending' ? own.inQueue : '–'}
      </Fact>
    )
  const from = Date.parse(manifest?.started_at ?? dispatch.updated_at)
  const to = isEnded(dispatch) ? Date.parse(dispatch.updated_at) : now
  return (
    <>
      <Fact label={own.labels.started}>
        <time dateTime={new Date(from).toISOString()} title={clockTime(from, now, language)}>
          {relativeTime(from, now, language)}
        </time>
      </Fact>
      <Fact label={own.labels.duration}>{duration(to - from, language)}</Fact>
    </>
  )
}

function ForkedFrom({ context: { own }, trace }: Pick<RunHeaderProps, 'context' | 'trace'>) {
  const from = trace.dispatch.metadata.forked_from as { readonly run_id: string; readonly step: number } | undefined
  if (!from) return null
  return (
    <Fact label={own.labels.forked}>
      <RunLink id={from.run_id}>{from.run_id}</RunLink> {own.atStep(from.step)}
    </Fact>
  )
}

function Facts({ context, trace }: RunHeaderProps) {
  const { own, language } = context
  const { dispatch, manifest, events } = trace
  const usage = manifest?.usage
  const cost = manifest?.cost_usd ?? null
  const steps = events.at(-1)?.step_id ?? 0
  return (
    <dl class="grid grid-cols-2 gap-x-6 gap-y-2.5 sm:grid-cols-3 lg:grid-cols-5" aria-label={own.facts}>
      <Fact label={own.labels.agent}>{visibleText(dispatch.agent_id)}</Fact>
      <Fact label={own.labels.model}>{manifest?.setup?.model ?? '–'}</Fact>
      <Times {...{ context, trace }} />
      <Fact label={own.labels.steps}>{count(steps, language)}</Fact>
      <Fact label={own.labels.tokens}>
        {usage && own.tokensInOut(count(usage.input_tokens, language), count(usage.output_tokens, language))}
      </Fact>
      <Fact label={own.labels.cost}>{cost === null ? own.unknownCost : money(cost, language)}</Fact>
      <Fact label={own.labels.behaviour}>{manifest?.behaviour ?? '–'}</Fact>
      <Fact label={own.labels.id} isWide>
        <span class="font-mono text-[12px]">{dispatch.dispatch_id}</span>
      </Fact>
      <ForkedFrom {...{ context, trace }} />
      {dispatch.parent_id !== null && (
        <Fact label={own.labels.parent}>
          <RunLink id={dispatch.parent_id}>{dispatch.parent_id}</RunLink>
        </Fact>
      )}
      {dispatch.children.length > 0 && (
        <Fact label={own.children}>
          {dispatch.children.map(({ dispatch_id, title }) => (
            <span key={dispatch_id} class="block truncate">
              <RunLink id={dispatch_id}>{visibleText(title)}</RunLink>
            </span>
          ))}
        </Fact>
      )}
    </dl>
  )
}

const RunLink = ({ id, children }: { readonly id: string; readonly children: ComponentChildren }) => (
  <a class="text-link underline underline-offset-2" href={runAddress(id)}>
    {children}
  </a>
)

interface FactProps {
  readonly label: string
  /** It takes the room of two. */
  readonly isWide?: boolean
  readonly children: ComponentChildren
}

function Fact({ label, isWide = false, children }: FactProps) {
  return (
    <div class={isWide ? 'col-span-2 min-w-0' : 'min-w-0'}>
      <dt class="label">{label}</dt>
      <dd class="figures wrap-anywhere">{children}</dd>
    </div>
  )
}

interface TaskProps {
  readonly context: RunsContext
  readonly prompt: string
  readonly title: string
}

/** The whole task, if the title does not already say it. */
function Task({ context: { own }, prompt, title }: TaskProps) {
  if (prompt.trim() === '' || prompt.trim() === title) return null
  return (
    <details class="group">
      <summary class="label w-fit cursor-pointer hover:text-ink">{own.task}</summary>
      <p
        class="mt-2 max-h-96 overflow-auto rounded-lg bg-sunken px-4 py-3 wrap-anywhere whitespace-pre-wrap"
        dir="auto"
      >
        {visibleText(prompt)}
      </p>
    </details>
  )
}

const LINK_CLASSES = 'label text-link underline underline-offset-2'

function Actions({ context, page, trace }: RunHeaderProps) {
  const { texts, own } = context
  const [dialog, setDialog] = useState<'' | 'compare' | 'fork'>('')
  const { dispatch, manifest, events } = trace
  const { dispatch_id: id, status } = dispatch
  const name = `run ${id}`
  const busy = page.view.busy.has(name)
  const steps = events.at(-1)?.step_id ?? 0
  const address = `/api/v1/trace/download?run=${encodeURIComponent(id)}`
  const act = (command: 'queue retry' | 'queue cancel', done: string): void =>
    void page.run(command, { id }, { busy: name, done })
  return (
    <div class="flex flex-wrap items-center gap-2">
      {!isEnded(dispatch) && (
        <Button busy={busy} onClick={() => act('queue cancel', texts.talk.stopped)}>
          {texts.talk.stop}
        </Button>
      )}
      {(status === 'failed' || status === 'dead') && (
        <Button busy={busy} onClick={() => act('queue retry', texts.talk.retried)}>
          {texts.talk.retry}
        </Button>
      )}
      {isEnded(dispatch) && <UndoButton {...{ context, page, run: dispatch }} />}
      {steps > 0 && <Button onClick={() => setDialog('fork')}>{own.fork}</Button>}
      {manifest && <Button onClick={() => setDialog('compare')}>{own.compare}</Button>}
      {manifest && (
        <span class="flex gap-3 pl-1">
          <a class={LINK_CLASSES} href={address} download>
            {own.exportHtml}
          </a>
          <a class={LINK_CLASSES} href={`${address}&format=json`} download>
            {own.exportJson}
          </a>
        </span>
      )}
      {dialog === 'compare' && <CompareDialog {...{ context, dispatch }} onClose={() => setDialog('')} />}
      {dialog === 'fork' && (
        <ForkDialog {...{ context, page, trace }} step={Math.max(1, steps - 1)} onClose={() => setDialog('')} />
      )}
    </div>
  )
}
