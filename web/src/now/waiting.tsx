/** What is waiting: calls for approval, calls with an unknown outcome, parked runs. */

import type { ComponentChildren } from 'preact'
import { Card, Dot, Empty, Section, type Tone } from '../components.tsx'
import { argumentsLine, clockTime, oneLine, visibleText } from '../format.ts'
import type { PageView } from '../page-state.ts'
import { plainLine } from '../plain-line.ts'
import { sayTitle } from '../texts/errors.ts'
import { translateReason } from '../texts/reasons.ts'
import type { ViewContext } from '../view-context.ts'

/** Maximum number of items of each kind. */
const MAX_ITEMS = 4

export function Waiting({ context, view }: { readonly context: ViewContext; readonly view: PageView }) {
  const { texts, language, now } = context
  const approvals = view.approvals.slice(0, MAX_ITEMS)
  const unknowns = view.unknowns.slice(0, MAX_ITEMS)
  const asked = new Set([...view.approvals, ...view.unknowns].map(({ session_id }) => session_id))
  // A run that waits for one of the calls above is that call again.
  const parked = view.waiting.filter(({ session_id }) => !asked.has(session_id))
  const waiting = parked.slice(0, MAX_ITEMS)
  const { queue, approvals: openApprovals = 0, unknowns: openUnknowns = 0 } = view.status ?? {}
  const visibleCount = approvals.length + unknowns.length + waiting.length
  const totalCount = Math.max(visibleCount, openApprovals + openUnknowns + (queue?.waiting ?? 0) - asked.size)
  const time = (at: number): string => clockTime(at, now, language)
  const isEmpty = visibleCount === 0
  return (
    <Section title={texts.waiting} note={isEmpty ? '' : String(totalCount)}>
      <Card>
        {isEmpty && <Empty>{texts.nothingWaiting}</Empty>}
        <ul class="divide-y divide-line">
          {approvals.map(({ id, tool, args, reason, expires_at }) => (
            <Item
              key={id}
              tone="wait"
              title={`${texts.approval} `}
              tool={tool}
              more={texts.expires(time(Date.parse(expires_at)))}
            >
              <span class="line-clamp-2 font-mono text-[13px] wrap-anywhere">{argumentsLine(args)}</span>
              <span class="line-clamp-2">{oneLine(translateReason(reason, language))}</span>
              <AnswerLink text={texts.answerHere} />
            </Item>
          ))}
          {unknowns.map(({ id, tool, args }) => (
            <Item key={id} tone="fault" title={`${texts.unknown}: `} tool={tool}>
              <span class="line-clamp-2 font-mono text-[13px] wrap-anywhere">{argumentsLine(args)}</span>
              <AnswerLink text={texts.answerHere} />
            </Item>
          ))}
          {waiting.map(({ dispatch_id, agent_id, wait, title }) => (
            <Item
              key={dispatch_id}
              tone="other"
              title={plainLine(sayTitle(title, language))}
              more={wait?.until ? texts.until(time(wait.until)) : ''}
            >
              <span class="line-clamp-2 wrap-anywhere">
                {visibleText(agent_id)} {texts.isWaiting}
                {wait?.reason && `: ${plainLine(translateReason(wait.reason, language))}`}
              </span>
            </Item>
          ))}
          {totalCount > visibleCount && <li class="label px-4 py-2">{texts.more(totalCount - visibleCount)}</li>}
        </ul>
      </Card>
    </Section>
  )
}

interface ItemProps {
  readonly tone: Tone
  readonly title: string
  readonly tool?: string
  readonly more?: string
  readonly children: ComponentChildren
}

function Item({ tone, title, tool = '', more = '', children }: ItemProps) {
  return (
    <li class="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 px-4 py-3">
      <span class="flex h-5 items-center">
        <Dot tone={tone} />
      </span>
      <div class="flex min-w-0 flex-col gap-0.5 text-muted">
        <span class="flex flex-wrap justify-between gap-x-3">
          <span class="line-clamp-2 min-w-0 wrap-anywhere text-ink">
            {title}
            <span class="font-mono text-act">{visibleText(tool)}</span>
          </span>
          <span class="label figures">{more}</span>
        </span>
        {children}
      </div>
    </li>
  )
}

function AnswerLink({ text }: { readonly text: string }) {
  return (
    <a class="label self-start text-link underline underline-offset-2" href="/needs-you">
      {text}
    </a>
  )
}
