/** Undo of a run: first shows what will change, then does it; can be taken back. */

import { useState } from 'preact/hooks'
import type { MessageRun, UndoPlan } from '../api-types.ts'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { ViewContext } from '../view-context.ts'

interface UndoProps {
  readonly context: ViewContext
  readonly page: PageState
  /** A run; `dispatch_id` may also be a day. */
  readonly run: Pick<MessageRun, 'dispatch_id' | 'undone_by'>
  readonly label?: string
  readonly title?: string
}

export function UndoButton({ context: { texts }, page, run, label, title }: UndoProps) {
  const [plan, setPlan] = useState<UndoPlan>()
  const { dispatch_id, undone_by } = run
  const name = `undo ${dispatch_id}`
  const busy = page.view.busy.has(name)
  const showPlan = async (): Promise<void> => {
    setPlan(await page.run('undo', { target: dispatch_id, plan: true }, { busy: name, done: '' }))
  }
  const undo = async (): Promise<void> => {
    setPlan(undefined)
    await page.run('undo', { target: dispatch_id, yes: true }, { busy: name, done: texts.talk.undone })
  }
  if (undone_by !== null)
    return (
      <Button
        busy={busy}
        onClick={() => void page.run('undo', { target: undone_by, yes: true }, { busy: name, done: texts.talk.redone })}
      >
        {texts.talk.redo}
      </Button>
    )
  return (
    <>
      <Button busy={busy} onClick={() => void showPlan()}>
        {label ?? texts.talk.undo}
      </Button>
      {plan && (
        <Dialog title={title ?? texts.talk.undoTitle} onClose={() => setPlan(undefined)}>
          <PlanView texts={texts} plan={plan} />
          <DialogButtons>
            <Button onClick={() => setPlan(undefined)}>
              {plan.status === 'nothing' ? texts.talk.close : texts.cancel}
            </Button>
            {plan.status !== 'nothing' && (
              <Button look="danger" onClick={() => void undo()}>
                {texts.talk.undoYes}
              </Button>
            )}
          </DialogButtons>
        </Dialog>
      )}
    </>
  )
}

/** Of each thing that stays as it is. */
const MAX_CHARS = 240

function PlanView({ texts, plan }: { readonly texts: ViewContext['texts']; readonly plan: UndoPlan }) {
  const { workspaces, documents, facts, not_undone } = plan
  const list = (kind: 'removed' | 'restored' | 'changed_back'): readonly string[] =>
    workspaces.flatMap(({ workspace, [kind]: paths }) =>
      workspaces.length === 1 ? paths : paths.map((path) => `${workspace.split('/').at(-1)}/${path}`),
    )
  // The answer itself is on the screen; that it stays need not be said.
  const staying = not_undone.filter(({ kind }) => kind !== 'reply').map(({ what }) => what.slice(0, MAX_CHARS))
  const kept = plan.kept.map(({ path }) => path)
  const uncertain = plan.uncertain.filter(({ does }) => does === 'stays').map(({ path }) => path)
  if (plan.status === 'nothing' && staying.length + kept.length + uncertain.length === 0)
    return <p class="mt-2 text-muted">{texts.talk.undoNothing}</p>
  return (
    <div class="mt-3 flex flex-col gap-3">
      <PlanPart label={texts.talk.undoDeletes} items={list('removed')} />
      <PlanPart label={texts.talk.undoRestores} items={list('restored')} />
      <PlanPart label={texts.talk.undoReverts} items={list('changed_back')} />
      <PlanPart label={texts.talk.undoDocuments} items={documents.map(({ name }) => name)} />
      <PlanPart label={texts.talk.undoFacts} items={facts.map(({ key }) => key)} />
      <PlanPart label={texts.talk.undoKeeps} items={staying} />
      <PlanPart label={texts.talk.undoStays} items={kept} />
      <PlanPart label={texts.talk.undoUncertain} items={uncertain} />
    </div>
  )
}

function PlanPart({ label, items }: { readonly label: string; readonly items: readonly string[] }) {
  if (items.length === 0) return null
  return (
    <div>
      <span class="label">{label}</span>
      <ul class="max-h-40 overflow-y-auto font-mono text-[13px]">
        {items.map((item, at) => (
          <li key={at} class="wrap-anywhere">
            {visibleText(item)}
          </li>
        ))}
      </ul>
    </div>
  )
}
