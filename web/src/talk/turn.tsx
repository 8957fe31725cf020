/** One message of the owner, and what came of it. */

import type { Message, MessageRun } from '../api-types.ts'
import { clockTime, relativeTime, visibleText } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import { RemedyLink } from '../needs-you/other-cards.tsx'
import type { PageState } from '../page-state.ts'
import { explainError, remedyOf } from '../texts/errors.ts'
import type { ViewContext } from '../view-context.ts'
import { Answer } from './answer.tsx'
import { RetryButton, RunCard } from './run-card.tsx'
import { LiveText } from './steps.tsx'

interface TurnProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly message: Message
  /** The runs that are shown here. */
  readonly runs: readonly MessageRun[]
  /** The message is one of the newest. */
  readonly isNew: boolean
}

export function Turn({ context, page, message, runs, isNew }: TurnProps) {
  const { texts, language, now } = context
  const at = Date.parse(message.at)
  const { asked } = message
  return (
    <li class="flex min-w-0 flex-col gap-3" data-message={message.id}>
      {asked !== null && (
        <div class="border-l-2 border-line pl-3" data-asked>
          <span class="label">{texts.talk.asks}</span>
          <Markdown text={asked} />
        </div>
      )}
      <OwnerText text={message.text} note={relativeTime(at, now, language)} title={clockTime(at, now, language)} />
      {message.reply !== null && (
        <div data-reply>
          <Answer keepsLines {...{ context, isNew }} text={message.reply} />
        </div>
      )}
      {runs.length === 0 && message.reply === null && message.runs.length > 0 && (
        <p class="label px-1" data-answered-later>
          {texts.talk.answeredLater}
        </p>
      )}
      {runs.map((run) =>
        isFront(run) ? (
          <FrontRun key={run.dispatch_id} {...{ context, page, run, isNew }} />
        ) : (
          <RunCard key={run.dispatch_id} {...{ context, page, run, isNew }} said={message.text} />
        ),
      )}
    </li>
  )
}

/** The session in front of the chat decides who answers; its own answer is a quick reply, not work. */
const isFront = ({ session_id }: MessageRun): boolean => session_id.startsWith('chat-')

interface FrontRunProps extends Pick<TurnProps, 'context' | 'page' | 'isNew'> {
  readonly run: MessageRun
}

function FrontRun({ context, page, run, isNew }: FrontRunProps) {
  const { texts } = context
  if (run.text !== null)
    return (
      <div data-reply class="flex flex-col gap-2">
        <Answer keepsLines {...{ context, isNew }} text={explainError(run.text, context.language)} />
        {run.status === 'failed' && (
          <p class="flex flex-wrap items-center gap-2">
            <RetryButton {...{ context, page, run }} />
            <RemedyLink context={context} remedy={remedyOf(run.text)} />
          </p>
        )}
      </div>
    )
  if (run.status !== 'running' && run.status !== 'pending') return null
  const live = page.view.runs.get(run.dispatch_id)
  const text = live?.steps.at(-1)?.text ?? ''
  return text === '' ? <p class="pulsing text-muted">{texts.talk.thinking}</p> : <LiveText text={text} />
}

interface OwnerTextProps {
  readonly text: string
  readonly note: string
  readonly title?: string
}

export function OwnerText({ text, note, title = '' }: OwnerTextProps) {
  return (
    <div class="flex max-w-[85%] flex-col items-end gap-1 self-end">
      <p
        class="max-h-80 overflow-y-auto rounded-2xl rounded-br-md bg-sunken px-4 py-2 wrap-anywhere whitespace-pre-wrap"
        dir="auto"
      >
        {visibleText(text)}
      </p>
      <span class="label px-1" title={title}>
        {note}
      </span>
    </div>
  )
}
