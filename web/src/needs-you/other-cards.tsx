/** Unknown outcomes, questions and failures: each is answered in place. */

import { useState } from 'preact/hooks'
import type { Dispatch, Unknown } from '../api-types.ts'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { relativeTime, visibleText } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import type { PageState } from '../page-state.ts'
import { explainError, type Remedy, remedyOf, sayTitle } from '../texts/errors.ts'
import { describeFailureClass } from '../texts/reasons.ts'
import { sayTool } from '../texts/tools.ts'
import { useMessage } from '../use-message.ts'
import type { ViewContext } from '../view-context.ts'
import { Arguments } from './arguments.tsx'
import { Fact, NeedCard } from './need-card.tsx'

interface CardProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly isCurrent?: boolean
}

interface UnknownProps extends CardProps {
  readonly unknown: Unknown
  /** The card is below the title of its run. */
  readonly isInRun?: boolean
}

export function UnknownCard({ context, page, unknown, isCurrent = false, isInRun = false }: UnknownProps) {
  const { texts, language, now } = context
  const { id, tool, args, reach, started_at, output_so_far, dispatch_id } = unknown
  const run = page.view.waiting.find((dispatch) => dispatch.dispatch_id === dispatch_id)
  return (
    <NeedCard
      {...{ kind: 'unknown', id, isCurrent, tone: 'fault' }}
      title={texts.needs.unknownTitle(sayTool(tool, language))}
      note={texts.needs.startedAt(relativeTime(Date.parse(started_at), now, language))}
      task={isInRun || !run ? '' : sayTitle(run.title, language)}
    >
      <p class="text-muted">{texts.needs.unknownHelp}</p>
      <Arguments args={args} label={texts.needs.arguments} />
      <Fact label={texts.needs.ifHappened}>{texts.needs.reaches[reach]}</Fact>
      {output_so_far !== '' && (
        <Fact label={texts.needs.outputSoFar}>
          <pre class="max-h-40 overflow-auto font-mono text-[13px] whitespace-pre-wrap">
            {visibleText(output_so_far)}
          </pre>
        </Fact>
      )}
      <Resolutions context={context} page={page} unknown={unknown} />
      <RunLink context={context} run={dispatch_id} />
    </NeedCard>
  )
}

function Resolutions({ context: { texts }, page, unknown: { id } }: CardProps & { readonly unknown: Unknown }) {
  const [isConfirming, setConfirming] = useState(false)
  const name = `unknown ${id}`
  const busy = page.view.busy.has(name)
  const resolve = (as: 'happened' | 'not' | 'recheck') =>
    void page.run('unknowns resolve', { id, as }, { busy: name, done: texts.needs.resolved[as] })
  return (
    <div class="flex flex-wrap gap-2 pt-1">
      <span data-key="a" class="contents">
        <Button look="main" busy={busy} onClick={() => resolve('happened')}>
          {texts.needs.happened}
        </Button>
      </span>
      <span data-key="d" class="contents">
        <Button busy={busy} onClick={() => setConfirming(true)}>
          {texts.needs.notHappened}
        </Button>
      </span>
      <Button busy={busy} onClick={() => resolve('recheck')}>
        {texts.needs.recheck}
      </Button>
      {isConfirming && (
        <Dialog title={texts.needs.confirmAgainTitle} onClose={() => setConfirming(false)}>
          <p class="mt-2 text-muted">{texts.needs.confirmAgain}</p>
          <DialogButtons>
            <Button onClick={() => setConfirming(false)}>{texts.cancel}</Button>
            <Button
              look="danger"
              onClick={() => {
                setConfirming(false)
                resolve('not')
              }}
            >
              {texts.needs.confirmAgainYes}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </div>
  )
}

export function QuestionCard({
  context,
  page,
  dispatch,
  isCurrent = false,
}: CardProps & { readonly dispatch: Dispatch }) {
  const { texts, language, now } = context
  const { dispatch_id, agent_id, session_id, wait, title } = dispatch
  const until = wait?.until ?? undefined
  const to = {
    place: `question ${dispatch_id} ${until}`,
    session: session_id,
    answers: dispatch_id,
    asked_until: until,
  }
  const answer = useMessage(page, to, {
    ...{ busy: `question ${dispatch_id}`, done: texts.needs.answered },
    refused(error) {
      const isClosed = error.code === 'conflict'
      if (isClosed) page.toasts.add('fault', texts.needs.questionClosed(answer.text))
      return isClosed
    },
  })
  const send = (event: Event): void => {
    event.preventDefault()
    void answer.send()
  }
  return (
    <NeedCard
      {...{ kind: 'question', id: dispatch_id, isCurrent, tone: 'wait' }}
      title={texts.needs.questionTitle(agent_id)}
      note={wait?.until ? texts.needs.until(relativeTime(wait.until, now, language)) : ''}
      task={wait?.reason ? sayTitle(title, language) : ''}
    >
      <Markdown text={wait?.reason || title} />
      <form class="flex flex-wrap gap-2" onSubmit={send}>
        <input
          class="min-w-40 flex-1 rounded-md border border-line bg-surface px-3 py-1.5 placeholder:text-muted"
          name={`answer-${dispatch_id}`}
          autocomplete="off"
          aria-label={texts.needs.answer}
          placeholder={texts.needs.answer}
          data-key="a"
          value={answer.text}
          onInput={({ currentTarget }) => answer.write(currentTarget.value)}
        />
        <Button look="main" type="submit" busy={answer.isBusy}>
          {texts.needs.sendAnswer}
        </Button>
      </form>
      <RunLink context={context} run={dispatch_id} />
    </NeedCard>
  )
}

interface FailureProps extends CardProps {
  readonly dispatch: Dispatch
  readonly count: number
}

export function FailureCard({ context, page, dispatch, count, isCurrent = false }: FailureProps) {
  const { texts, language, now } = context
  const { dispatch_id, agent_id, title, error, outcome, updated_at, failure_class } = dispatch
  const name = `failure ${dispatch_id}`
  const reason = explainError(error ?? outcome ?? '', language)
  const when = relativeTime(Date.parse(updated_at), now, language)
  const dismiss = () =>
    page.run('queue dismiss', { id: dispatch_id, same: true }, { busy: name, done: texts.needs.dismissed })
  const retry = () => page.run('queue retry', { id: dispatch_id }, { busy: name, done: texts.needs.retried })
  return (
    <NeedCard
      {...{ kind: 'failure', id: dispatch_id, isCurrent, tone: 'fault' }}
      title={texts.needs.failureTitle(agent_id)}
      note={count > 1 ? `${when} · ${texts.needs.times(count)}` : when}
    >
      <p class="line-clamp-3 wrap-anywhere">{visibleText(sayTitle(title, language))}</p>
      {failure_class !== null && <p class="text-fault">{describeFailureClass(failure_class, language)}</p>}
      <p class="line-clamp-6 wrap-anywhere whitespace-pre-wrap text-muted">{visibleText(reason)}</p>
      <div class="flex flex-wrap gap-2 pt-1">
        <span data-key="a" class="contents">
          <Button busy={page.view.busy.has(name)} onClick={() => void retry()}>
            {texts.needs.retry}
          </Button>
        </span>
        <span data-key="d" class="contents">
          <Button busy={page.view.busy.has(name)} onClick={() => void dismiss()}>
            {texts.needs.dismiss}
          </Button>
        </span>
        <RemedyLink context={context} remedy={remedyForClass[failure_class ?? ''] ?? remedyOf(error ?? '')} />
      </div>
      <RunLink context={context} run={dispatch_id} />
    </NeedCard>
  )
}

const REMEDIES = {
  limit: { href: '/settings/budget', text: 'changeLimit' },
  model: { href: '/settings/models', text: 'checkModel' },
} as const

const remedyForClass: Readonly<Record<string, Remedy>> = { budget: 'limit', provider: 'model' }

interface RemedyProps {
  readonly context: ViewContext
  readonly remedy: Remedy | undefined
}

/** Leads to where the reason of a failure is mended. */
export function RemedyLink({ context: { texts }, remedy }: RemedyProps) {
  if (remedy === undefined) return null
  const { href, text } = REMEDIES[remedy]
  return (
    <a class="self-center text-link underline underline-offset-2" href={href}>
      {texts.needs[text]}
    </a>
  )
}

function RunLink({ context: { texts }, run }: { readonly context: ViewContext; readonly run: string }) {
  return (
    <a class="label self-start text-link underline underline-offset-2" href={`/runs/${encodeURIComponent(run)}`}>
      {texts.needs.openRun}
    </a>
  )
}
