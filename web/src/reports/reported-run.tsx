/** A run in the report of a day: what it was, why, what it changed, what its checks showed. */

import { Dot, toneOf } from '../components.tsx'
import { clockTime, money, oneLine, visibleText } from '../format.ts'
import { plainLine } from '../plain-line.ts'
import { explainError, sayTitle } from '../texts/errors.ts'
import type { ReportsTexts } from '../texts/reports.ts'
import type { ViewContext } from '../view-context.ts'
import type { ReportRun } from './report-types.ts'

interface ReportedRunProps {
  readonly context: ViewContext
  readonly own: ReportsTexts
  readonly run: ReportRun
  /** How often it failed on this day. */
  readonly times?: number
}

const MAX_FILES = 8
const MAX_OUTCOME = 400

export function ReportedRun({ context, own, run, times = 1 }: ReportedRunProps) {
  const { texts, language, now } = context
  const { run_id, agent_id, title, status, usd, outcome, undone_by, untrusted } = run
  return (
    <li class="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3" data-reported={run_id}>
      <span class="pt-1.5">
        <Dot tone={toneOf(status)} />
      </span>
      <div class="min-w-0">
        <p class="wrap-anywhere">
          <a class="font-medium underline-offset-2 hover:underline" href={`/runs/${encodeURIComponent(run_id)}`}>
            {plainLine(sayTitle(title, language))}
          </a>
        </p>
        <p class="label figures wrap-anywhere">
          {[
            clockTime(Date.parse(run.from), now, language),
            visibleText(agent_id),
            times > 1 ? own.failedTimes(times) : (texts.statuses[status] ?? status),
            usd === null ? own.noPrice : money(usd, language),
            own.starters[run.started_by],
            ...(undone_by === null ? [] : [own.undone]),
          ].join(' · ')}
        </p>
        <dl class="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5">
          {run.files.length > 0 && (
            <Row label={own.changed}>
              <span class="font-mono text-[13px]">{run.files.slice(0, MAX_FILES).map(visibleText).join(', ')}</span>
              {run.files.length > MAX_FILES && ` ${own.more(run.files.length - MAX_FILES)}`}
            </Row>
          )}
          {run.evidence.length > 0 && (
            <Row label={own.evidence}>
              <Evidence {...{ own, run }} />
            </Row>
          )}
        </dl>
        {outcome !== null && status !== 'waiting' && (
          <p class="mt-1 wrap-anywhere text-muted">
            “{plainLine(explainError(outcome, language)).slice(0, MAX_OUTCOME)}”
            {untrusted && <span class="label"> {own.outside}</span>}
          </p>
        )}
      </div>
    </li>
  )
}

function Row({ label, children }: { readonly label: string; readonly children: preact.ComponentChildren }) {
  return (
    <>
      <dt class="label pt-px">{label}</dt>
      <dd class="wrap-anywhere">{children}</dd>
    </>
  )
}

function Evidence({ own, run }: { readonly own: ReportsTexts; readonly run: ReportRun }) {
  return (
    <ul class="flex flex-col gap-0.5">
      {run.evidence.map(({ code, title, proof, checks }) => (
        <li key={code}>
          {code} {visibleText(title)}
          {proof !== null && (
            <span class={`label ml-2 ${proof === 'proved' ? 'text-live' : 'text-wait'}`} title={own.provedHelp}>
              {own.proofs[proof]}
            </span>
          )}
          {checks.map(({ what, ok, observed }) => (
            <span key={what} class="block font-mono text-[13px] text-muted">
              <span class={ok ? 'text-live' : 'text-fault'}>{ok ? '✓' : '✗'}</span> {visibleText(oneLine(what))} →{' '}
              {visibleText(oneLine(observed))}
            </span>
          ))}
        </li>
      ))}
    </ul>
  )
}
