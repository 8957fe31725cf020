/** The form of an agent. What is changed elsewhere meanwhile is shown, and never overwritten unasked. */

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

export function EditForm(props: EditFormProps) {
  const { page, context, agent, onClose } = props
  const own = AGENT_TEXTS[context.language]
  const { base, draft, form, isBusy, isAsking, save, stopAsking, startFrom } = useForm(props)
  const hasConflict = agent.revision !== base.revision
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
        {hasConflict && (
          <Conflict
            {...{ own, base, agent, draft }}
            keepMine={() => startFrom(mergeDrafts(draft, draftOf(base), draftOf(agent)))}
            takeTheirs={() => startFrom(draftOf(agent))}
          />
        )}
        <Fields {...{ page, context, form, agent: base }} />
        <div class="mt-5 flex flex-wrap items-center gap-2">
          <Button look="main" type="submit" busy={isBusy || hasConflict}>
            {isBusy ? own.saving : own.save}
          </Button>
          <Button onClick={onClose}>{context.texts.cancel}</Button>
          {changedFields(draft, draftOf(base)).length > 0 && <span class="label">{own.unsaved}</span>}
        </div>
      </form>
      {isAsking && <AskOften {...{ context, isBusy }} onYes={() => void save(true)} onNo={stopAsking} />}
    </Card>
  )
}

/** What the owner has written, what is wrong with it, and how it is saved. */
function useForm({ page, context, agent, onClose }: EditFormProps) {
  const own = AGENT_TEXTS[context.language]
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
    if (outcome?.kind === 'saved') page.toasts.add('live', own.saved(visibleText(base.agent_id)))
    if (outcome?.kind === 'saved' || outcome?.kind === 'conflict') await page.refetch()
    if (outcome?.kind === 'saved') onClose()
  }
  const startFrom = (next: AgentDraft): void => {
    setBase(agent)
    setDraft(next)
    setErrors({})
  }
  return { base, draft, form, isBusy, isAsking, save, startFrom, stopAsking: () => setAsking(false) }
}

interface AskOftenProps extends Pick<EditFormProps, 'context'> {
  readonly isBusy: boolean
  onYes(): void
  onNo(): void
}

function AskOften({ context: { texts, language }, isBusy, onYes, onNo }: AskOftenProps) {
  const own = AGENT_TEXTS[language]
  return (
    <Dialog title={own.oftenTitle} onClose={onNo}>
      <p class="mt-2 text-muted">{AGENTS_TEXTS[language].maker.often}</p>
      <DialogButtons>
        <Button onClick={onNo}>{texts.cancel}</Button>
        <Button look="main" busy={isBusy} onClick={onYes}>
          {own.oftenYes}
        </Button>
      </DialogButtons>
    </Dialog>
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
