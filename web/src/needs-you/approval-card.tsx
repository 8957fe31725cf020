/** A call that waits for the owner's approval: what exactly, why, from where, what follows; answered in place. */

import { useState } from 'preact/hooks'
import type { Approval } from '../api-types.ts'
import { Button, Chevron } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { sayTitle } from '../texts/errors.ts'
import { describeOrigin, translateReason } from '../texts/reasons.ts'
import { sayTool } from '../texts/tools.ts'
import type { ViewContext } from '../view-context.ts'
import { Arguments } from './arguments.tsx'
import { Fact, NeedCard } from './need-card.tsx'

interface ApprovalProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly approval: Approval
  readonly isCurrent?: boolean
  /** The card is below the title of its run. */
  readonly isInRun?: boolean
}

export function ApprovalCard({ context, page, approval, isCurrent = false, isInRun = false }: ApprovalProps) {
  const { texts, language, now } = context
  const { id, tool, args, reason, effect, origin, expires_at, task } = approval
  const agent = page.view.waiting.find(({ session_id }) => session_id === approval.session_id)?.agent_id
  return (
    <NeedCard
      {...{ kind: 'approval', id, isCurrent, tone: 'wait' }}
      title={texts.needs.approvalTitle(agent ?? texts.needs.someone)}
      note={texts.needs.expires(relativeTime(Date.parse(expires_at), now, language))}
      task={isInRun || task === null ? '' : sayTitle(task, language)}
    >
      <p>
        <span class="inline-block font-medium text-act wrap-anywhere first-letter:uppercase">
          {sayTool(tool, language)}
        </span>
      </p>
      <Arguments args={args} label={texts.needs.arguments} />
      <Fact label={texts.needs.why}>{visibleText(translateReason(reason, language))}</Fact>
      <Destinations context={context} approval={approval} />
      <Fact label={texts.needs.consequence}>
        {texts.needs.reaches[effect.reach]} {effect.host !== undefined && texts.needs.toHost(visibleText(effect.host))}
      </Fact>
      <Answers context={context} page={page} approval={approval} />
      <a class="label text-link underline underline-offset-2" href={`/runs/${encodeURIComponent(origin.run_id)}`}>
        {texts.needs.openRunAt(origin.step)}
      </a>
    </NeedCard>
  )
}

function Destinations({
  context: { texts, language },
  approval: { sinks, sinks_assumed },
}: Pick<ApprovalProps, 'context' | 'approval'>) {
  if (sinks.length === 0) return null
  const list = (
    <ul>
      {sinks.slice(0, MAX_SINKS).map(({ to, from, trusted }) => (
        <li key={to} class="wrap-anywhere">
          <span class="font-mono">{visibleText(shorten(to))}</span>{' '}
          <span class={trusted ? 'text-muted' : 'text-fault'}>
            {texts.needs.from(visibleText(describeOrigin(from, language)))}
            {!trusted && ` · ${texts.needs.untrusted}`}
          </span>
        </li>
      ))}
      {sinks.length > MAX_SINKS && <li class="text-muted">{texts.more(sinks.length - MAX_SINKS)}</li>}
    </ul>
  )
  if (!sinks_assumed || sinks.length === 1) return <Fact label={texts.needs.goesTo}>{list}</Fact>
  return (
    <Fact label={texts.needs.goesTo}>
      {texts.needs.assumedSinks}
      <details class="group" data-assumed-sinks>
        <summary class="label flex w-fit cursor-pointer list-none items-center gap-1.5 hover:text-ink">
          <Chevron /> {texts.needs.showSinks(sinks.length)}
        </summary>
        {list}
      </details>
    </Fact>
  )
}

/** The whole values are among the arguments. */
const MAX_SINKS = 50
const MAX_SINK_CHARS = 300

const shorten = (to: string): string => (to.length > MAX_SINK_CHARS ? `${to.slice(0, MAX_SINK_CHARS)} …` : to)

/** Contract: whether an allowed call could not be taken back. */
const isFinal = ({ effect }: Approval): boolean => effect.reach === 'destructive'

function Answers({ context, page, approval }: Pick<ApprovalProps, 'context' | 'page' | 'approval'>) {
  const { texts, language } = context
  const [isConfirming, setConfirming] = useState(false)
  const [isMore, setMore] = useState(false)
  const [reason, setReason] = useState('')
  const busy = page.view.busy.has(busyName(approval))
  const allow = (grant: 'once' | 'session' | '7d') => void allowCall({ page, context }, approval, grant)
  const deny = () => void denyCall({ page, context }, approval, reason)
  const answers = { texts, reason, setReason, busy, deny }
  return (
    <>
      <div class="flex flex-wrap items-center gap-2 pt-1">
        <span data-key="a" class="contents">
          <Button look="main" busy={busy} onClick={() => (isFinal(approval) ? setConfirming(true) : allow('once'))}>
            {texts.needs.allow}
          </Button>
        </span>
        <span data-key="d" class="contents">
          <Button busy={busy} onClick={deny}>
            {texts.needs.deny}
          </Button>
        </span>
        <button type="button" class={MORE_CLASSES} aria-expanded={isMore} onClick={() => setMore(!isMore)}>
          {texts.needs.moreAnswers}
        </button>
      </div>
      {isMore && <MoreAnswers {...answers} allow={isFinal(approval) ? undefined : allow} />}
      {isConfirming && (
        <Dialog title={texts.needs.confirmTitle} onClose={() => setConfirming(false)}>
          <p class="mt-2 text-muted">{texts.needs.reaches[approval.effect.reach]}</p>
          <p class="mt-3 mb-2 text-act first-letter:uppercase">{sayTool(approval.tool, language)}</p>
          <Arguments args={approval.args} label={texts.needs.arguments} />
          <DialogButtons>
            <Button onClick={() => setConfirming(false)}>{texts.cancel}</Button>
            <Button
              look="danger"
              busy={busy}
              onClick={() => {
                setConfirming(false)
                allow('once')
              }}
            >
              {texts.needs.confirmAllow}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </>
  )
}

const MORE_CLASSES = 'label cursor-pointer px-1 underline underline-offset-2 hover:text-ink'

interface MoreAnswersProps {
  readonly texts: ViewContext['texts']
  readonly reason: string
  readonly busy: boolean
  setReason(reason: string): void
  deny(): void
  /** Undefined: the call can be allowed only once. */
  readonly allow: ((grant: 'session' | '7d') => void) | undefined
}

function MoreAnswers({ texts, reason, busy, setReason, deny, allow }: MoreAnswersProps) {
  return (
    <div class="flex flex-col gap-3 border-t border-line pt-3" data-more-answers>
      {allow && (
        <div class="flex flex-wrap gap-2">
          <Button busy={busy} onClick={() => allow('session')}>
            {texts.needs.allowSession}
          </Button>
          <Button busy={busy} onClick={() => allow('7d')}>
            {texts.needs.allowDays}
          </Button>
        </div>
      )}
      <form
        class="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          deny()
        }}
      >
        <label class="flex min-w-56 flex-1 flex-col gap-1">
          <span class="label">{texts.needs.denyReason}</span>
          <input
            class="w-full rounded-md border border-line bg-surface px-2.5 py-1.5"
            name="deny-reason"
            autocomplete="off"
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </label>
        <Button type="submit" busy={busy}>
          {texts.needs.denyWithReason}
        </Button>
      </form>
    </div>
  )
}

type Deps = Pick<ApprovalProps, 'page' | 'context'>

const busyName = ({ id }: Approval): string => `approval ${id}`

const allowCall = ({ page, context: { texts, language } }: Deps, approval: Approval, grant: string) =>
  page.run(
    'approvals allow',
    { id: approval.id, grant },
    { busy: busyName(approval), done: texts.needs.allowed(sayTool(approval.tool, language)) },
  )

const denyCall = ({ page, context: { texts, language } }: Deps, approval: Approval, reason: string) =>
  page.run(
    'approvals deny',
    { id: approval.id, ...(reason.trim() === '' ? {} : { reason }) },
    { busy: busyName(approval), done: texts.needs.denied(sayTool(approval.tool, language)) },
  )
