/** A button that tests a model with one short request, and says what came of it. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Button } from '../components.tsx'
import { duration } from '../format.ts'
import { MODEL_TEXTS } from '../texts/settings/models.ts'
import { FormError, useAction } from './form.tsx'
import { ModelProblem } from './model-problem.tsx'
import { commonTexts, type PartProps } from './parts.ts'

/** Without `model`: the default model. */
export function ModelTest({ model, ...props }: PartProps & { readonly model?: string }) {
  const { page, language } = props
  const own = MODEL_TEXTS[language]
  const action = useAction(page, language)
  const [tested, setTested] = useState<CommandOutput<'models test'> | null>(null)
  const test = async (): Promise<void> => {
    setTested(null)
    setTested((await action.run('models test', model === undefined ? {} : { model })) ?? null)
  }
  return (
    <div class="flex min-w-0 flex-wrap items-center gap-3">
      <Button busy={action.busy} onClick={() => void test()}>
        {action.busy ? own.testing : commonTexts(props).test}
      </Button>
      {tested?.ok && (
        <span class="text-live" role="status">
          {own.works(duration(tested.latency_ms ?? 0, language))}
        </span>
      )}
      {tested?.ok === false && <ModelProblem language={language} trial={tested} />}
      <FormError error={action.error} />
    </div>
  )
}
