/** Adds a model: provider, key, model, one test. The key is sent once and stored only if the test succeeds. */

import { useState } from 'preact/hooks'
import type { CommandInput, CommandOutput } from '../../../src/commands/lib/registry.ts'
import { ApiError, runCommand } from '../api.ts'
import { Button, Card } from '../components.tsx'
import { count } from '../format.ts'
import { MODEL_TEXTS } from '../texts/settings/models.ts'
import { CheckField, ChoiceField, SecretField, TextField } from './form.tsx'
import { ModelField } from './model-field.tsx'
import { ModelProblem, problemOf } from './model-problem.tsx'
import { commonTexts, type PartProps } from './parts.ts'

type Chosen = CommandOutput<'models list'>['chosen']
type ProviderType = Chosen['known'][number]['type']

export interface WizardStart {
  readonly type: ProviderType
  /** A configured provider whose key is changed; undefined: a new one. */
  readonly name?: string
  readonly address?: string
}

interface WizardProps extends PartProps {
  readonly start: WizardStart
  readonly chosen: Chosen
  onClose(): void
}

interface Entered {
  readonly type: ProviderType
  readonly name: string
  readonly address: string
  readonly key: string
  readonly model: string
  readonly inputPrice: string
  readonly outputPrice: string
  readonly keepsDefault: boolean
}

const COMPATIBLE = 'openai-compatible'

const modelFor = ({ known, default: current }: Chosen, type: ProviderType, name?: string): string =>
  name !== undefined && current?.startsWith(`${name}/`)
    ? current.slice(name.length + 1)
    : (known.find((provider) => provider.type === type)?.model ?? '')

const providerInput = ({ type, name, address, key }: Entered) => ({
  type,
  ...(name.trim() === '' ? {} : { name: name.trim() }),
  ...(address.trim() === '' ? {} : { base_url: address.trim() }),
  ...(key.trim() === '' ? {} : { secret: key.trim() }),
})

type Failure = Pick<CommandOutput<'models test'>, 'code' | 'error'>

interface WizardState {
  readonly busy: 'check' | 'use' | null
  readonly offered: readonly string[] | null
  readonly failure: Failure | null
}

const NO_ADDRESS: Failure = { code: 'usage', error: 'the address is missing' }
const IDLE: WizardState = { busy: null, offered: null, failure: null }

/** Contract: the two commands of the wizard; a failure is kept, whatever its form. */
function useWizard({ page, language, onClose }: WizardProps, entered: Entered) {
  const own = MODEL_TEXTS[language].wizard
  const [state, setState] = useState(IDLE)
  const attempt = async (busy: 'check' | 'use', work: () => Promise<Partial<WizardState>>): Promise<void> => {
    if (entered.type === COMPATIBLE && entered.address.trim() === '') return setState({ ...IDLE, failure: NO_ADDRESS })
    setState(({ offered }) => ({ busy, offered, failure: null }))
    const result = await work().catch((thrown: unknown): Partial<WizardState> => {
      if (thrown instanceof ApiError && thrown.code !== 'unauthorized')
        return { failure: { code: thrown.code, error: thrown.message } }
      page.reportFailure(thrown)
      return {}
    })
    setState((was) => ({ ...was, busy: null, ...result }))
  }
  const check = () =>
    attempt('check', async () => {
      const { ok, models, ...failure } = await runCommand('models offered', providerInput(entered))
      return ok ? { offered: models } : { failure }
    })
  const use = () =>
    attempt('use', async () => {
      const tried = await runCommand('models add', addInput(entered))
      if (!tried.stored) return { failure: tried }
      page.toasts.add('live', tried.is_default ? own.used(tried.model) : own.kept(tried.model))
      page.refresh()
      onClose()
      return {}
    })
  return { ...state, check, use, forget: () => setState(IDLE) }
}

function addInput(entered: Entered): CommandInput<'models add'> {
  const hasPrice = entered.inputPrice.trim() !== '' && entered.outputPrice.trim() !== ''
  const prices = hasPrice ? { input_price: Number(entered.inputPrice), output_price: Number(entered.outputPrice) } : {}
  return { ...providerInput(entered), model: entered.model.trim(), ...prices, keep_default: entered.keepsDefault }
}

export function ModelWizard(props: WizardProps) {
  const { start, chosen, language, texts } = props
  const own = MODEL_TEXTS[language]
  const [entered, setEntered] = useState<Entered>({
    ...{ type: start.type, name: start.name ?? '', address: start.address ?? '', key: '', keepsDefault: false },
    ...{ model: modelFor(chosen, start.type, start.name), inputPrice: '', outputPrice: '' },
  })
  const wizard = useWizard(props, entered)
  const set = (change: Partial<Entered>): void => {
    // What was found out about one provider says nothing about another.
    if (change.type !== undefined) wizard.forget()
    setEntered((was) => ({ ...was, ...change }))
  }
  const isBusy = wizard.busy !== null
  const title = start.name === undefined ? own.wizard.title : own.wizard.changeTitle(start.name)
  return (
    <Card class="px-4 py-4 sm:px-5">
      <form
        class="flex max-w-2xl flex-col gap-4"
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void wizard.use()
        }}
      >
        <h2 class="text-lg font-semibold">{title}</h2>
        <ProviderFields {...props} {...{ entered, set }} />
        <KeyCheck language={language} offered={wizard.offered} busy={isBusy} check={() => void wizard.check()} />
        <ModelField
          {...{ language, offered: wizard.offered, model: entered.model }}
          choose={(model) => set({ model })}
        />
        {wizard.failure && problemOf(wizard.failure) === 'unpriced' && <PriceFields {...props} {...{ entered, set }} />}
        <CheckField
          label={own.wizard.keepDefault}
          isChecked={entered.keepsDefault}
          onChange={(keepsDefault) => set({ keepsDefault })}
        />
        {wizard.failure && (
          <div>
            <ModelProblem language={language} trial={wizard.failure} />
            <p class="label mt-1">{own.wizard.notStored}</p>
          </div>
        )}
        <div class="flex flex-wrap gap-2">
          <Button look="main" type="submit" busy={isBusy}>
            {wizard.busy === 'use' ? own.testing : entered.keepsDefault ? own.wizard.useOnly : own.wizard.use}
          </Button>
          <Button onClick={props.onClose}>{texts.cancel}</Button>
        </div>
      </form>
    </Card>
  )
}

interface KeyCheckProps extends Pick<PartProps, 'language'> {
  readonly offered: readonly string[] | null
  readonly busy: boolean
  check(): void
}

function KeyCheck({ language, offered, busy, check }: KeyCheckProps) {
  const own = MODEL_TEXTS[language].wizard
  return (
    <div class="flex flex-wrap items-center gap-3">
      <Button busy={busy} onClick={check}>
        {own.check}
      </Button>
      {offered && (
        <span class="text-live" role="status">
          {own.checked(count(offered.length, language), offered.length === 1)}
        </span>
      )}
    </div>
  )
}

interface FieldsProps extends WizardProps {
  readonly entered: Entered
  set(change: Partial<Entered>): void
}

function ProviderFields({ entered, set, ...props }: FieldsProps) {
  const { chosen, language, start } = props
  const own = MODEL_TEXTS[language].wizard
  const types = [...chosen.known.map(({ type }) => type), COMPATIBLE] as readonly ProviderType[]
  const needsKey = chosen.known.find(({ type }) => type === entered.type)?.needs_key ?? false
  const where = own.whereKeys[entered.type]
  const isCompatible = entered.type === COMPATIBLE
  return (
    <>
      {start.name === undefined && (
        <ChoiceField
          label={own.provider}
          value={entered.type}
          choices={types.map((type) => [type, own.providers[type]] as const)}
          // A key is only for the provider that it was given for.
          onChange={(type) => set({ type, name: '', address: '', key: '', model: modelFor(chosen, type) })}
        />
      )}
      {isCompatible && <AddressField {...{ entered, set, language }} />}
      {(needsKey || isCompatible) && (
        <SecretField
          label={needsKey ? own.key : own.keyOptional}
          help={
            <>
              {where !== undefined && <p>{own.getKey(where)}</p>}
              <p>{start.name === undefined ? commonTexts(props).secretHelp : commonTexts(props).secretKept}</p>
            </>
          }
          value={entered.key}
          onChange={(key) => set({ key })}
        />
      )}
      {!isCompatible && (
        <details class="group">
          <summary class="label cursor-pointer list-none underline underline-offset-2 hover:text-ink">
            {own.otherAddress}
          </summary>
          <div class="mt-2">
            <AddressField {...{ entered, set, language }} />
          </div>
        </details>
      )}
      {isCompatible && start.name === undefined && (
        <TextField
          label={own.name}
          help={own.nameHelp}
          value={entered.name}
          placeholder="local"
          isMono
          onChange={(name) => set({ name })}
        />
      )}
    </>
  )
}

function AddressField({ entered, set, language }: Pick<FieldsProps, 'entered' | 'set' | 'language'>) {
  const own = MODEL_TEXTS[language].wizard
  return (
    <TextField
      label={own.address}
      help={own.addressHelp}
      value={entered.address}
      inputMode="url"
      isMono
      onChange={(address) => set({ address })}
    />
  )
}

function PriceFields({ entered, set, language }: FieldsProps) {
  const own = MODEL_TEXTS[language].wizard
  return (
    <fieldset class="flex flex-col gap-3 rounded-md border border-line px-3 pt-2 pb-3">
      <legend class="label px-1">{own.priceWhy}</legend>
      <TextField
        label={own.inputPrice}
        value={entered.inputPrice}
        inputMode="decimal"
        onChange={(inputPrice) => set({ inputPrice })}
      />
      <TextField
        label={own.outputPrice}
        value={entered.outputPrice}
        inputMode="decimal"
        onChange={(outputPrice) => set({ outputPrice })}
      />
    </fieldset>
  )
}
