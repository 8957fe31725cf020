/** A run in a conversation: state, plan, live steps, what it asks, its result, files, undo. */

import { useState } from 'preact/hooks'
import type { MessageRun } from '../api-types.ts'
import { Button, Chevron, Dot, toneOf } from '../components.tsx'
import { duration, oneLine, visibleText } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import { ApprovalCard } from '../needs-you/approval-card.tsx'
import { RemedyLink, UnknownCard } from '../needs-you/other-cards.tsx'
import type { PageState } from '../page-state.ts'
import type { RunView } from '../run-view.ts'
import { explainError, remedyOf } from '../texts/errors.ts'
import { translateReason } from '../texts/reasons.ts'
import type { ViewContext } from '../view-context.ts'
import { Answer } from './answer.tsx'
import { Decisions } from './decisions.tsx'
import { Files } from './files.tsx'
import { LiveText, Steps } from './steps.tsx'
import { Todos } from './todos.tsx'
import { UndoButton } from './undo.tsx'

interface RunProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly run: MessageRun
}

interface RunCardProps extends RunProps {
  /** The message above the card. */
  readonly said: string
  /** The message is one of the newest. */
  readonly isNew: boolean
}

const ENDED = ['done', 'failed', 'dead', 'cancelled']

export function RunCard({ said, isNew, ...props }: RunCardProps) {
  const { page, run, context } = props
  const live = page.view.runs.get(run.dispatch_id)
  const approvals = page.view.approvals.filter(({ session_id }) => session_id === run.session_id)
  const unknowns = page.view.unknowns.filter(({ dispatch_id }) => dispatch_id === run.dispatch_id)
  const isEnded = ENDED.includes(run.status)
  return (
    <article class="flex min-w-0 flex-col gap-3" data-run-card={run.dispatch_id} data-status={run.status}>
      <Heading
        {...props}
        {...{ said, live }}
        needsOwner={approvals.length + unknowns.length > 0 || run.question !== null}
      />
      <Todos context={context} todos={run.todos} />
      {isEnded ? <PastSteps {...props} live={live} /> : <CurrentSteps {...props} live={live} />}
      <Decisions context={context} decisions={run.decisions} />
      {approvals.map((approval) => (
        <ApprovalCard key={approval.id} {...{ context, page, approval }} isInRun />
      ))}
      {unknowns.map((unknown) => (
        <UnknownCard key={unknown.id} {...{ context, page, unknown }} isInRun />
      ))}
      {run.question !== null && approvals.length === 0 && <Question context={context} question={run.question} />}
      {run.text !== null && (
        <div data-result class={run.undone_by === null ? '' : 'opacity-60'}>
          <Answer {...{ context, isNew }} text={explainError(run.text, context.language)} />
        </div>
      )}
      {run.files.length > 0 && run.undone_by === null && <Files {...props} />}
      <Actions {...props} isEnded={isEnded} />
    </article>
  )
}

interface HeadingProps extends RunProps {
  readonly said: string
  readonly live: RunView | undefined
  readonly needsOwner: boolean
}

function Heading({ context: { texts, language, now }, run, said, live, needsOwner }: HeadingProps) {
  const { status, title, not_understood, created_at, updated_at } = run
  const isRunning = status === 'running'
  const asEnded = not_understood ? texts.talk.notUnderstood[not_understood] : (texts.talk.states[status] ?? status)
  const state = needsOwner ? texts.talk.waitsForYou : asEnded
  const from = live?.from || Date.parse(created_at)
  const to = ENDED.includes(status) ? Date.parse(updated_at) : now
  return (
    <header class="flex min-w-0 items-center gap-2 text-muted">
      <Dot tone={needsOwner || not_understood ? 'wait' : toneOf(status)} pulsing={isRunning} />
      {!isAlsoSaid(title, said) && <span class="min-w-0 truncate font-medium text-ink">{visibleText(title)}</span>}
      <span class="label shrink-0">
        {state} · {duration(to - from, language)}
      </span>
    </header>
  )
}

/** Contract: whether the title says nothing but the message above it, or its beginning. */
function isAlsoSaid(title: string, said: string): boolean {
  const message = oneLine(said)
  return oneLine(title) === message || (title.endsWith('...') && message.startsWith(oneLine(title.slice(0, -3))))
}

/** What a run does now. */
function CurrentSteps({ context: { texts, language }, run, live }: RunProps & { readonly live: RunView | undefined }) {
  if (run.status === 'pending') return <p class="text-muted">{texts.talk.queued}</p>
  const step = live?.steps.at(-1)
  const text = run.status === 'running' ? (step?.text ?? '') : ''
  const isThinking = run.status === 'running' && text === '' && (step?.calls.length ?? 0) === 0
  return (
    <div class="flex min-w-0 flex-col gap-2 border-l-2 border-line pl-3" data-live-steps>
      {live && <Steps run={live} />}
      {isThinking && <p class="pulsing text-muted">{texts.talk.thinking}</p>}
      {text !== '' && <LiveText text={text} />}
      {run.status === 'waiting' && run.question === null && run.waits_for !== null && (
        <p class="line-clamp-3 text-muted">{visibleText(translateReason(run.waits_for, language))}</p>
      )}
    </div>
  )
}

/** What a run did, fetched when the owner wants to see it. */
function PastSteps({ context: { texts }, page, run, live }: RunProps & { readonly live: RunView | undefined }) {
  const [isOpen, setOpen] = useState(false)
  const toggle = (event: Event): void => {
    const { open } = event.currentTarget as HTMLDetailsElement
    setOpen(open)
    if (open) void page.loadRun(run)
  }
  return (
    <details class="group min-w-0" onToggle={toggle}>
      <summary class="label flex w-fit cursor-pointer list-none items-center gap-1.5 hover:text-ink">
        <Chevron /> {live && live.steps.length > 0 ? texts.talk.steps(live.steps.length) : texts.talk.showSteps}
      </summary>
      {isOpen && live && (
        <div class="mt-2 border-l-2 border-line pl-3">
          <Steps run={live} isAll />
        </div>
      )}
    </details>
  )
}

function Question({ context: { texts }, question }: { readonly context: ViewContext; readonly question: string }) {
  return (
    <div class="rounded-xl border border-wait bg-surface px-4 py-3" data-question>
      <span class="label text-wait">{texts.talk.asks}</span>
      <Markdown text={question} />
      <span class="label">{texts.talk.answerBelow}</span>
    </div>
  )
}

export function RetryButton({ context: { texts }, page, run: { dispatch_id: id } }: RunProps) {
  const name = `run ${id}`
  const retry = () => void page.run('queue retry', { id }, { busy: name, done: texts.talk.retried })
  return (
    <Button busy={page.view.busy.has(name)} onClick={retry}>
      {texts.talk.retry}
    </Button>
  )
}

function Actions({ context, page, run, isEnded }: RunProps & { readonly isEnded: boolean }) {
  const { texts } = context
  const { dispatch_id: id, status, undoable, undone_by } = run
  const name = `run ${id}`
  const busy = page.view.busy.has(name)
  return (
    <footer class="flex flex-wrap items-center gap-2">
      {undone_by !== null && <span class="label">{texts.talk.wasUndone}</span>}
      {isEnded && (undoable || undone_by !== null) && <UndoButton {...{ context, page, run }} />}
      {(status === 'failed' || status === 'dead') && <RetryButton {...{ context, page, run }} />}
      {status === 'failed' && <RemedyLink context={context} remedy={remedyOf(run.text ?? '')} />}
      {!isEnded && (
        <Button
          busy={busy}
          onClick={() => void page.run('queue cancel', { id }, { busy: name, done: texts.talk.stopped })}
        >
          {texts.talk.stop}
        </Button>
      )}
      <a class="label text-link underline underline-offset-2" href={`/runs/${encodeURIComponent(id)}`}>
        {texts.talk.openRun}
      </a>
    </footer>
  )
}
