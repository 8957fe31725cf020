/** The form of an agent. What somebody else changes meanwhile is shown, and never overwritten unasked. */

import { useState } from 'preact/hooks'
import type { AgentDetails } from '../api-types.ts'
import { Button, Card } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { AGENT_TEXTS } from '../texts/agent.ts'
import { AGENTS_TEXTS } from '../texts/agents.ts'
import type { ViewContext } from '../view-context.ts'
import { Conflict } from './conflict.tsx'
import { type AgentDraft, changedFields, draftOf, mergeDrafts } from './draft.ts'
import { AreaField, Field, type FormState, TextField } from './fields.tsx'
import { ModelField } from './model-field.tsx'
import { type FieldErrors, saveDraft } from './save.ts'
import { ScheduleField } from './schedule-field.tsx'
import { Switch } from './switch.tsx'
import { ToolField } from './tool-field.tsx'

interface EditFormProps {
  readonly page: PageState
  readonly context: ViewContext
  /** As the files say now; it may change while the form is open. */
  readonly agent: AgentDetails
  onClose(): void
}

export function EditForm({ page, context, agent, onClose }: EditFormProps) {
  const own = AGENT_TEXTS[context.language]
  const { texts } = context
  const [base, setBase] = useState(agent)
  const [draft, setDraft] = useState(() => draftOf(agent))
  const [errors, setErrors] = useState<FieldErrors>({})
  const [isBusy, setBusy] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const form: FormState = {
    ...{ own, draft, errors },
    set(name, value) {
      setDraft((was) => ({ ...was, [name]: value }))
      setErrors(({ [name]: _, ...others }) => others)
    },
  }
  const save = async (isAgreed: boolean): Promise<void> => {
    setBusy(true)
    const outcome = await saveDraft(base, draft, isAgreed).catch((thrown: unknown) => page.reportFailure(thrown))
    setBusy(false)
    setAsking(outcome?.kind === 'often')
    setErrors(outcome?.kind === 'wrong' ? outcome.errors : {})
    if (outcome?.kind === 'conflict') await page.refresh()
    if (outcome?.kind !== 'saved') return
    page.toasts.add('live', own.saved(visibleText(base.agent_id)))
    await page.refresh()
    onClose()
  }
  const startFrom = (next: AgentDraft): void => {
    setBase(agent)
    setDraft(next)
    setErrors({})
  }
  return (
    <Card class="p-4 sm:p-5">
      <form
        data-form={base.agent_id}
        aria-label={own.settings}
        onSubmit={(event) => {
          event.preventDefault()
          void save(false)
        }}
      >
        {agent.revision !== base.revision && (
          <Conflict
            {...{ own, base, agent, draft }}
            keepMine={() => startFrom(mergeDrafts(draft, draftOf(base), draftOf(agent)))}
            takeTheirs={() => startFrom(draftOf(agent))}
          />
        )}
        <Fields {...{ page, context, form, agent: base }} />
        <div class="mt-5 flex flex-wrap items-center gap-2">
          <Button look="main" type="submit" busy={isBusy || agent.revision !== base.revision}>
            {isBusy ? own.saving : own.save}
          </Button>
          <Button onClick={onClose}>{texts.cancel}</Button>
          {changedFields(draft, draftOf(base)).length > 0 && <span class="label">{own.unsaved}</span>}
        </div>
      </form>
      {isAsking && (
        <Dialog title={own.oftenTitle} onClose={() => setAsking(false)}>
          <p class="mt-2 text-muted">{AGENTS_TEXTS[context.language].maker.often}</p>
          <DialogButtons>
            <Button onClick={() => setAsking(false)}>{texts.cancel}</Button>
            <Button look="main" busy={isBusy} onClick={() => void save(true)}>
              {own.oftenYes}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </Card>
  )
}

interface FieldsProps extends Pick<EditFormProps, 'page' | 'context' | 'agent'> {
  readonly form: FormState
}

function Fields({ page, context, agent, form }: FieldsProps) {
  const { language } = context
  const { own, draft } = form
  const isOn = draft.enabled
  return (
    <div class="grid gap-x-8 gap-y-5 lg:grid-cols-2">
      <div class="flex min-w-0 flex-col gap-5">
        {agent.prompt_is_role ? <p class="label">{own.roleIsPrompt}</p> : <AreaField form={form} name="prompt" />}
        <AreaField form={form} name="role" />
        <AreaField form={form} name="self" />
        <TextField form={form} name="description" />
      </div>
      <div class="flex min-w-0 flex-col gap-5">
        <Field form={form} name="enabled" isGroup>
          <Switch label={own.fields.enabled} isOn={isOn} busy={false} onChange={() => form.set('enabled', !isOn)} />
        </Field>
        <ScheduleField {...{ page, context, form }} id={agent.agent_id} />
        <ToolField {...{ page, language, form }} />
        <ModelField {...{ page, language, form }} />
        <TextField form={form} name="workspace" />
        <div class="grid gap-5 sm:grid-cols-3">
          <TextField form={form} name="priority" />
          <TextField form={form} name="timeout" />
          <TextField form={form} name="cooldown" />
        </div>
      </div>
    </div>
  )
}
