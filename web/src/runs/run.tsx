/** One run, by its address `/runs/ID`; with `?with=OTHER`, two runs side by side. */

import { AfterPaint } from '../after-paint.tsx'
import { Card } from '../components.tsx'
import { Markdown } from '../markdown.tsx'
import type { PlaceProps } from '../shell/place.tsx'
import { readEntry } from '../shell/router.ts'
import { Files } from '../talk/files.tsx'
import { describeError } from '../texts/error-reasons.ts'
import { Comparison } from './comparison.tsx'
import { NotReady } from './not-ready.tsx'
import { RunHeader } from './run-header.tsx'
import { RunNeeds } from './run-needs.tsx'
import { RunSteps } from './run-steps.tsx'
import { type RunsContext, useRunsContext } from './runs-context.ts'
import { type RunDetails, type RunTrace, useTrace } from './use-trace.ts'

export function Run(props: PlaceProps) {
  const { page, params, query } = props
  const context = useRunsContext(props)
  const state = useTrace(page, params.id ?? '')
  const other = query.get('with') ?? ''
  return (
    <div class="flex min-w-0 flex-col gap-5">
      <BackToList text={context.own.back} />
      {state.kind !== 'ready' && <NotReady context={context} state={state} />}
      {state.kind === 'ready' && other === '' && (
        <>
          <RunHeader context={context} page={page} trace={state} />
          <RunNeeds context={context} page={page} dispatch={state.dispatch} />
          <Outcome context={context} trace={state} />
          <WrittenFiles context={context} dispatch={state.dispatch} />
          <AfterPaint key={params.id}>
            {() => <RunSteps context={context} page={page} trace={state} stepInAddress={readStep(query)} />}
          </AfterPaint>
        </>
      )}
      {state.kind === 'ready' && other !== '' && (
        <Comparison key={other} context={context} page={page} trace={state} otherId={other} />
      )}
    </div>
  )
}

/** The list that the owner came from, with its filters and where it was scrolled to; else the whole list. */
function BackToList({ text }: { readonly text: string }) {
  const { from = '' } = readEntry()
  const isFromList = /^\/runs(?:\?|$)/.test(from)
  const goBack = (event: MouseEvent): void => {
    if (!isFromList || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    history.back()
  }
  return (
    <a class="label w-fit hover:text-ink" href={isFromList ? from : '/runs'} onClick={goBack}>
      ← {text}
    </a>
  )
}

/** Contract: the step that the address names; 0: none. */
const readStep = (query: URLSearchParams): number => Math.max(0, Math.floor(Number(query.get('step') ?? 0)) || 0)

/** Opened as they are now; not those that an undo took back. */
function WrittenFiles({ context, dispatch }: { readonly context: RunsContext; readonly dispatch: RunDetails }) {
  const { session_id, workspace, undone_by } = dispatch
  const inWorkspace = (file: string): string =>
    workspace !== null && file.startsWith(`${workspace}/`) ? file.slice(workspace.length + 1) : file
  const files = dispatch.files.map(inWorkspace)
  if (files.length === 0 || undone_by !== null) return null
  return (
    <section data-run-files>
      <h2 class="mb-2 px-1 font-semibold">{context.texts.talk.files}</h2>
      <Files context={context} run={{ session_id, files }} />
    </section>
  )
}

/** What came of the run. The manifest has the whole answer; events have only its start. */
function Outcome({ context: { own, language }, trace }: { readonly context: RunsContext; readonly trace: RunTrace }) {
  const { dispatch, manifest } = trace
  const answer = dispatch.result ?? manifest?.final_answer ?? null
  const error = dispatch.error ?? manifest?.error ?? null
  const issues = manifest?.issues ?? []
  return (
    <>
      {error !== null && (
        <section data-error>
          <h2 class="mb-2 px-1 font-semibold">{own.error}</h2>
          <Card class="border-fault px-5 py-4">
            <Markdown text={describeError(error, language)} />
            {issues.map(({ code, message }) => (
              <p key={code + message} class="mt-2 wrap-anywhere text-muted">
                {code}: {message}
              </p>
            ))}
          </Card>
        </section>
      )}
      {answer !== null && (
        <section data-answer>
          <h2 class="mb-2 px-1 font-semibold">{own.answer}</h2>
          <Card class={`px-5 py-4 ${dispatch.undone_by === null ? '' : 'opacity-60'}`}>
            <Markdown text={answer} />
          </Card>
        </section>
      )}
    </>
  )
}
