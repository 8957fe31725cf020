/** The report of one day: its runs with reason, changes and evidence, documents, what waits, cost; undo, send, save. */

import type { ComponentChildren } from 'preact'
import { runCommand } from '../api.ts'
import { Button } from '../components.tsx'
import { clockTime, count, money, oneLine, visibleText } from '../format.ts'
import { sayAuthor, sayReason } from '../memory/versions.ts'
import type { PageState } from '../page-state.ts'
import { plainLine } from '../plain-line.ts'
import { UndoButton } from '../talk/undo.tsx'
import { sayTitle } from '../texts/errors.ts'
import { MEMORY_TEXTS } from '../texts/memory.ts'
import type { ReportsTexts } from '../texts/reports.ts'
import { useOnce } from '../use-once.ts'
import type { ViewContext } from '../view-context.ts'
import { groupRepeated, runsByEnd } from './group-runs.ts'
import type { DayReport, ReportDay } from './report-types.ts'
import { ReportedRun } from './reported-run.tsx'

interface ReportProps {
  readonly context: ViewContext
  readonly own: ReportsTexts
  readonly page: PageState
  readonly day: ReportDay
}

export function Report({ context, own, page, day }: ReportProps) {
  // It is written from the journals of the day, so only when something of the day may have changed.
  const { approvals, unknowns, waiting, failures } = page.view
  const waits = [approvals, unknowns, waiting, failures].map(({ length }) => length)
  const report = useOnce(page, JSON.stringify([day, waits]), () => runCommand('report', { day: day.day }))
  if (!report) return <div class="h-24" aria-busy="true" />
  return (
    <div class="flex flex-col gap-5 px-4 py-4" data-report={report.day}>
      <Runs {...{ context, own, report }} />
      <Documents {...{ context, own, report }} />
      <Waits {...{ context, own, report }} />
      <Cost {...{ context, own, report }} />
      <Actions {...{ context, own, page, report }} />
    </div>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section>
      <h3 class="label mb-1.5 font-semibold">{title}</h3>
      {children}
    </section>
  )
}

function Runs({ context, own, report: { runs, left_out } }: PartProps & { readonly context: ViewContext }) {
  const { done, failed, open } = runsByEnd(runs)
  return (
    <>
      <Part title={own.done}>
        {done.length === 0 && <p class="text-muted">{own.nothingDone}</p>}
        <ul class="flex flex-col gap-4" data-runs="done">
          {done.map((run) => (
            <ReportedRun key={run.run_id} {...{ context, own, run }} />
          ))}
        </ul>
      </Part>
      {failed.length > 0 && (
        <Part title={own.failedPart}>
          <ul class="flex flex-col gap-4" data-runs="failed">
            {failed.map(({ item, count: times }) => (
              <ReportedRun key={item.run_id} {...{ context, own, run: item, times }} />
            ))}
          </ul>
        </Part>
      )}
      {open.length > 0 && (
        <Part title={own.openPart}>
          <ul class="flex flex-col gap-4" data-runs="open">
            {open.map((run) => (
              <ReportedRun key={run.run_id} {...{ context, own, run }} />
            ))}
          </ul>
        </Part>
      )}
      {left_out > 0 && <p class="text-muted">{own.leftOut(left_out)}</p>}
    </>
  )
}

interface PartProps {
  readonly own: ReportsTexts
  readonly report: DayReport
}

function Documents({ context: { language, now }, own, report }: PartProps & { readonly context: ViewContext }) {
  const memory = MEMORY_TEXTS[language]
  if (report.documents.length === 0) return null
  return (
    <Part title={own.documents}>
      <ul class="flex flex-col gap-0.5">
        {report.documents.map(({ name, version, author, reason, at }) => (
          <li key={`${name} ${version}`} class="wrap-anywhere">
            <span class="label figures mr-2">{clockTime(Date.parse(at), now, language)}</span>
            {name} {own.by(sayAuthor(memory, author))}
            {reason !== '' && <span class="text-muted">: {oneLine(sayReason(memory, reason))}</span>}
          </li>
        ))}
      </ul>
    </Part>
  )
}

function Waits({ context: { language }, own, report: { waits } }: PartProps & { readonly context: ViewContext }) {
  if (waits === null) return null
  const failures = groupRepeated(waits.filter(({ kind }) => kind === 'failed'))
  const others = waits.filter(({ kind }) => kind !== 'failed').map((item) => ({ item, count: 1 }))
  return (
    <Part title={own.waits}>
      {waits.length === 0 && <p class="text-muted">{own.nothingWaits}</p>}
      <ul class="flex flex-col gap-0.5">
        {[...others, ...failures].map(({ item: { kind, id, agent_id, title }, count: times }) => (
          <li key={`${kind} ${id}`} class="wrap-anywhere">
            {agent_id !== null && <span class="font-medium">{agent_id}: </span>}
            {plainLine(sayTitle(title, language))}{' '}
            <span class="text-wait">{times > 1 ? own.failedTimes(times) : own.kinds[kind]}</span>
          </li>
        ))}
      </ul>
      {waits.some(({ kind }) => kind !== 'parked') && (
        <a class="mt-1 inline-block text-link underline underline-offset-2" href="/needs-you">
          {own.answer}
        </a>
      )}
    </Part>
  )
}

function Cost({ context: { language }, own, report }: PartProps & { readonly context: ViewContext }) {
  const { cost, cycles } = report
  const { calls } = cost
  return (
    <Part title={own.cost}>
      <p class="figures">
        <span class="font-medium">{money(cost.usd, language)}</span>
        {' · '}
        {calls ? own.calls(count(calls, language)) : own.noCalls}
      </p>
      {cost.agents.length > 1 && (
        <ul class="figures mt-1 flex flex-wrap gap-x-4 text-muted">
          {cost.agents.map(({ name, usd }) => (
            <li key={name}>
              {visibleText(name)} {money(usd, language)}
            </li>
          ))}
        </ul>
      )}
      {cost.partly_unpriced && <p class="mt-1 text-muted">{own.unpriced}</p>}
      {cycles.total > 0 && (
        <p class="mt-1 text-muted">{own.cycles(count(cycles.total, language), count(cycles.idle, language))}</p>
      )}
    </Part>
  )
}

interface ActionProps extends PartProps {
  readonly context: ViewContext
  readonly page: PageState
}

function Actions({ context, own, page, report }: ActionProps) {
  const { day, can_be_undone } = report
  const { language } = context
  const send = (): void =>
    void page.run('report', { day, send: true, language }, { done: ({ sent_to }) => own.sent(sent_to ?? '') })
  return (
    <div class="flex flex-wrap gap-2">
      {can_be_undone && (
        <UndoButton
          {...{ context, page, label: own.undo, title: own.undoTitle }}
          run={{ dispatch_id: day, undone_by: null }}
        />
      )}
      <Button busy={page.view.busy.has('report')} onClick={send}>
        {own.send}
      </Button>
      <Button onClick={() => save(`report-${day}.md`, language === 'zh' ? report.zh : report.text)}>
        {own.download}
      </Button>
    </div>
  )
}

/** Contract: the browser saves the text as a file. */
function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/markdown' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 1000)
}
