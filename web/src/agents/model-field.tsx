/** The model of an agent: the default one, or one that this home knows. */

import { readCommand } from '../api.ts'
import { type Language, money, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { useFetched } from '../use-fetched.ts'
import { borderOf, describedBy, Field, type FormState, INPUT_CLASSES } from './fields.tsx'

interface ModelFieldProps {
  readonly page: PageState
  readonly language: Language
  readonly form: FormState
}

export function ModelField({ page, language, form }: ModelFieldProps) {
  const { own, draft } = form
  const fetched = useFetched(page, '', () => readCommand('models list'))
  const items = fetched.kind === 'ready' ? fetched.data.items : []
  const usable = items.filter(({ id, problem }) => problem === null && !id.includes('<'))
  const others = [...new Set([...usable.map(({ id }) => id), draft.model])].filter((id) => id !== '')
  const priceOf = (id: string): string => {
    const price = items.find((item) => item.id === id)?.price
    return price ? ` (${money(price.input, language)} / ${money(price.output, language)})` : ''
  }
  return (
    <Field form={form} name="model">
      <select
        {...describedBy(form, 'model')}
        class={`${INPUT_CLASSES} ${borderOf(form, 'model')}`}
        value={draft.model}
        onChange={({ currentTarget }) => form.set('model', currentTarget.value)}
      >
        <option value="">{own.defaultModel(visibleText(items.find((item) => item.is_default)?.id ?? ''))}</option>
        {others.map((id) => (
          <option key={id} value={id}>
            {visibleText(id)}
            {priceOf(id)}
          </option>
        ))}
      </select>
    </Field>
  )
}
