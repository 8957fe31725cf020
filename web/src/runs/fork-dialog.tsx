/** Starts a fork of a run: first says what it will do and cost. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { count, money } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { navigate } from '../shell/router.ts'
import { useOnce } from '../use-once.ts'
import { type RunsContext, runAddress } from './runs-context.ts'
import { foldRun, sumCosts } from './steps.ts'
import type { RunTrace } from './use-trace.ts'

interface ForkDialogProps {
  readonly context: RunsContext
  readonly page: PageState
  readonly trace: RunTrace
  /** The step that is proposed. */
  readonly step: number
  onClose(): void
}

const FIELD_CLASSES = 'h-9 min-w-0 rounded-md border border-line bg-surface px-2'

export function ForkDialog({ context, page, trace, step: proposed, onClose }: ForkDialogProps) {
  const { own } = context
  const { dispatch, manifest, events } = trace
  const [step, setStep] = useState(proposed)
  const [model, setModel] = useState('')
  const models = useOnce(page, 'models', () => readCommand('models list'))
  // A provider whose models have no names yet has one entry, which is no model.
  const known = models?.items.filter(({ id }) => !id.endsWith('/<model>')) ?? []
  const last = events.at(-1)?.step_id ?? 1
  const name = `fork ${dispatch.dispatch_id}`
  const fork = async (): Promise<void> => {
    const input = { run: dispatch.dispatch_id, from: step, detach: true, ...(model === '' ? {} : { model }) }
    const forked = await page.run('replay', input, {
      busy: name,
      done: (output) => ('files' in output && output.files === 'now' ? own.forkedNow : own.forked),
    })
    if (!forked || !('forked_from' in forked)) return
    onClose()
    navigate(runAddress(forked.run_id))
  }
  return (
    <Dialog title={own.forkTitle(step)} onClose={onClose}>
      <ul class="mt-3 flex list-disc flex-col gap-1.5 pl-5">
        <li>{own.forkFirst(step)}</li>
        <li>{own.forkFiles(step)}</li>
        <li>{own.forkEffects}</li>
        <Estimate
          {...{ context, trace, step }}
          price={models?.items.find(({ id }) => id === model)?.price}
          isOther={model !== ''}
        />
      </ul>
      <div class="mt-4 grid gap-3 sm:grid-cols-[auto_1fr]">
        <label class="contents">
          <span class="self-center text-muted">{own.forkStep}</span>
          <input
            class={FIELD_CLASSES}
            type="number"
            min={1}
            max={last}
            value={step}
            onInput={({ currentTarget }) => setStep(Math.max(1, Math.min(last, Number(currentTarget.value) || 1)))}
          />
        </label>
        <label class="contents">
          <span class="self-center text-muted">{own.forkModel}</span>
          <select class={FIELD_CLASSES} value={model} onChange={({ currentTarget }) => setModel(currentTarget.value)}>
            <option value="">{own.sameModel(manifest?.setup?.model ?? '–')}</option>
            {known.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ForkButtons {...{ context, onClose }} isBusy={page.view.busy.has(name)} onFork={() => void fork()} />
    </Dialog>
  )
}

interface ForkButtonsProps {
  readonly context: RunsContext
  readonly isBusy: boolean
  onClose(): void
  onFork(): void
}

const ForkButtons = ({ context: { texts, own }, isBusy, onClose, onFork }: ForkButtonsProps) => (
  <DialogButtons>
    <Button onClick={onClose}>{texts.cancel}</Button>
    <Button look="main" busy={isBusy} onClick={onFork}>
      {own.forkYes}
    </Button>
  </DialogButtons>
)

interface EstimateProps {
  readonly context: RunsContext
  readonly trace: RunTrace
  readonly step: number
  readonly price: { readonly input: number; readonly output: number } | null | undefined
  /** Another model than that of the run. */
  readonly isOther: boolean
}

const MILLION = 1_000_000

/** What the run used after that step says most about what the fork will use. */
function Estimate({ context: { own, language }, trace, step, price, isOther }: EstimateProps) {
  const { steps } = foldRun(trace.dispatch.dispatch_id, trace.events)
  const { input, output, usd } = sumCosts(steps.filter(({ id }) => id > step))
  const tokens = count(input + output, language)
  return (
    <>
      <li>{usd === null ? own.forkTokens(tokens) : own.forkCost(money(usd, language), tokens)}</li>
      {isOther && (
        <li data-fork-estimate>
          {price
            ? own.forkEstimate(money((input * price.input + output * price.output) / MILLION, language))
            : own.forkNoPrice}
        </li>
      )}
    </>
  )
}
