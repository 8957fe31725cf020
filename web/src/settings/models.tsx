/** The part Models of Settings: what is in use and why, the wizard, the roles, and all models. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button, Card, Dot, Section } from '../components.tsx'
import { FirstItems } from '../first-items.tsx'
import { money, visibleText } from '../format.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { MODEL_TEXTS } from '../texts/settings/models.ts'
import { useFetched } from '../use-fetched.ts'
import { FormError, useAction } from './form.tsx'
import { Confirm, Entry, EntryList } from './frame.tsx'
import { ModelRoles } from './model-roles.tsx'
import { ModelTest } from './model-test.tsx'
import { ModelWizard, type WizardStart } from './model-wizard.tsx'
import { commonTexts, type PartProps } from './parts.ts'

type ModelList = CommandOutput<'models list'>
type ModelItem = ModelList['items'][number]

interface ListProps extends PartProps {
  readonly list: ModelList
}

export function Models(props: PartProps) {
  const { language, page } = props
  const own = MODEL_TEXTS[language]
  const [wizard, setWizard] = useState<WizardStart | null>(null)
  const fetched = useFetched(page, '', () => readCommand('models list'))
  if (fetched.kind !== 'ready') return <NotFetched {...props} state={fetched} />
  const list = fetched.data
  const close = (): void => setWizard(null)
  return (
    <div class="flex flex-col gap-6">
      <Section title={own.inUse}>
        <InUse {...props} list={list} />
      </Section>
      {wizard ? (
        <ModelWizard key={wizard.name} {...props} start={wizard} chosen={list.chosen} onClose={close} />
      ) : (
        <p>
          <Button look="main" onClick={() => setWizard({ type: 'anthropic' })}>
            {own.wizard.open}
          </Button>
        </p>
      )}
      <ModelRoles {...props} list={list} />
      <Section title={own.all}>
        <AllModels {...props} list={list} />
      </Section>
      <Section title={own.providersTitle}>
        <Providers {...props} list={list} change={setWizard} />
      </Section>
    </div>
  )
}

function InUse({ list, ...props }: ListProps) {
  const own = MODEL_TEXTS[props.language]
  const model = list.items.find(({ is_default }) => is_default)
  if (!model) return null
  const isOffline = model.id.startsWith('offline/')
  const override = list.selections.find(({ scope }) => scope === 'default')?.model
  return (
    <Card class="flex flex-col gap-2 px-4 py-3">
      <p class="flex items-center gap-2">
        <Dot tone={model.problem !== null ? 'fault' : isOffline ? 'wait' : 'live'} />
        <span class="font-mono font-medium wrap-anywhere" data-model-in-use>
          {visibleText(model.id)}
        </span>
      </p>
      <p class="text-muted">
        {sayWhy(model, props.language)} {isOffline && own.offline}
      </p>
      {override !== undefined && <p class="text-wait">{own.overridden(visibleText(override))}</p>}
      {isOffline && <p>{own.addFirst}</p>}
      {model.problem !== null && <p class="text-fault wrap-anywhere">{visibleText(model.problem)}</p>}
      <ModelTest {...props} />
    </Card>
  )
}

function sayWhy({ id, why }: ModelItem, language: PartProps['language']): string {
  const texts = MODEL_TEXTS[language].why
  if (why === 'models.default') return texts.configured
  if (why === 'the only model') return texts.supplied
  if (why === 'TIRELESS_MODEL') return texts.named(why)
  if (why !== null && /^[A-Z0-9_]+$/.test(why)) return texts.variable(why)
  return id.startsWith('offline/') ? texts.none : texts.local(visibleText(why ?? ''))
}

function AllModels({ list, ...props }: ListProps) {
  const { language } = props
  const own = MODEL_TEXTS[language]
  return (
    <FirstItems items={list.items}>
      {(first) => (
        <EntryList label={own.all}>
          {first.map((model) => (
            <Entry key={model.id} name={model.id} buttons={<ModelTest {...props} model={model.id} />}>
              <p class="font-mono wrap-anywhere">
                {visibleText(model.id)} {model.is_default && <span class="label font-sans">{own.default}</span>}
              </p>
              <p class="label">
                {[own.sources[model.source], own.keys[model.key], sayPrice(model, language)].join(' · ')}
              </p>
              {model.problem !== null && <p class="text-fault wrap-anywhere">{visibleText(model.problem)}</p>}
            </Entry>
          ))}
        </EntryList>
      )}
    </FirstItems>
  )
}

function sayPrice({ price }: ModelItem, language: PartProps['language']): string {
  const own = MODEL_TEXTS[language]
  return price === null ? own.noPrice : own.price(money(price.input, language), money(price.output, language))
}

function Providers({ list, change, ...props }: ListProps & { change(start: WizardStart): void }) {
  const { language, page } = props
  const [own, common] = [MODEL_TEXTS[language], commonTexts(props)]
  const [removing, setRemoving] = useState<string | null>(null)
  const action = useAction(page, language)
  const { providers } = list.chosen
  if (providers.length === 0) return <p class="px-1 text-muted">{own.noProviders}</p>
  const remove = async (name: string): Promise<void> => {
    setRemoving(null)
    await action.run('models remove', { name }, own.removed(name))
  }
  return (
    <div class="flex flex-col gap-2">
      <FormError error={action.error} />
      <EntryList label={own.providersTitle}>
        {providers.map(({ name, type, base_url }) => (
          <Entry
            key={name}
            name={name}
            buttons={
              <>
                <Button onClick={() => change({ type, name, address: type === 'openai-compatible' ? base_url : '' })}>
                  {own.wizard.changeKey}
                </Button>
                <Button busy={action.busy} onClick={() => setRemoving(name)}>
                  {common.remove}
                </Button>
              </>
            }
          >
            <p class="font-mono">{visibleText(name)}</p>
            <p class="label wrap-anywhere">
              {own.wizard.providers[type]} · {visibleText(base_url)}
            </p>
          </Entry>
        ))}
      </EntryList>
      {removing !== null && (
        <Confirm
          {...props}
          title={own.removeTitle(removing)}
          yes={common.remove}
          busy={action.busy}
          onClose={() => setRemoving(null)}
          onYes={() => void remove(removing)}
        >
          <p>{own.removeHelp}</p>
        </Confirm>
      )}
    </div>
  )
}
