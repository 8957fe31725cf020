/** Recently finished dispatches with their results. */

import type { Dispatch } from '../api-types.ts'
import { Card, Chevron, Dot, Empty, Section, toneOf } from '../components.tsx'
import { clockTime, visibleText } from '../format.ts'
import { plainLine } from '../plain-line.ts'
import { isLook } from '../run-view.ts'
import { explainError, sayTitle } from '../texts/errors.ts'
import { describeStop } from '../texts/reasons.ts'
import type { ViewContext } from '../view-context.ts'

const ROW_CLASSES = [
  'grid cursor-pointer list-none grid-cols-[auto_minmax(0,1fr)_auto] items-baseline gap-x-3 px-4 py-2.5',
  'hover:bg-sunken sm:grid-cols-[auto_8rem_minmax(0,1fr)_auto]',
].join(' ')

const TITLE_CLASSES = [
  'col-span-2 col-start-2 row-start-2 truncate text-muted',
  'sm:col-span-1 sm:col-start-3 sm:row-start-1',
].join(' ')

export function Finished({ context, recent }: { readonly context: ViewContext; readonly recent: readonly Dispatch[] }) {
  const { texts, language, now } = context
  return (
    <Section title={texts.finished}>
      <Card>
        {recent.length === 0 && <Empty>{texts.nothingFinished}</Empty>}
        <ul class="divide-y divide-line">
          {recent.map(
            ({ dispatch_id, agent_id, metadata, outcome, status, result, error, updated_at, ...dispatch }) => {
              const title = isLook(metadata.behaviour) ? texts.look : sayTitle(dispatch.title, language)
              return (
                <li key={dispatch_id} data-finished={dispatch_id}>
                  <details class="group">
                    <summary class={ROW_CLASSES}>
                      <Dot tone={toneOf(status)} />
                      <span class="truncate font-medium">{agent_id}</span>
                      <span class={TITLE_CLASSES}>{plainLine(describeStop(outcome ?? title, language))}</span>
                      <span class="label figures flex items-center gap-2">
                        {status === 'done' ? '' : `${texts.statuses[status] ?? status} · `}
                        {clockTime(Date.parse(updated_at), now, language)}
                        <Chevron />
                      </span>
                    </summary>
                    <p class="label px-4 pb-2 pl-9 wrap-anywhere">{visibleText(title)}</p>
                    <p class={`px-4 pb-4 pl-9 wrap-anywhere whitespace-pre-wrap ${error === null ? '' : 'text-fault'}`}>
                      {visibleText(explainError(error ?? result ?? texts.noAnswer, language))}
                    </p>
                    <p class="px-4 pb-4 pl-9">
                      <a
                        class="label text-link underline underline-offset-2"
                        href={`/runs/${encodeURIComponent(dispatch_id)}`}
                      >
                        {texts.talk.openRun}
                      </a>
                    </p>
                  </details>
                </li>
              )
            },
          )}
        </ul>
      </Card>
    </Section>
  )
}
