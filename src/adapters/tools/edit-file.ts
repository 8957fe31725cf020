/** edit_file: replaces one passage of a file. After a crash, the file's digest shows whether the edit took effect. */

import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { CallResult } from '../../domain/decision.ts'
import { LABEL_OF_OWN_OUTPUT } from '../../domain/label.ts'
import { replacePlaceholders } from '../../domain/placeholder.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { ToolContext } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { normalizePath } from './file-path.ts'
import { replaceText } from './replace-text.ts'
import { asToolResult, fileResult, toolError } from './tool-result.ts'

const args = z.strictObject({
  path: z.string(),
  old: z.string().min(1),
  new: z.string(),
})
type Args = z.infer<typeof args>

const planSchema = z.object({ path: z.string(), line: z.number(), before: z.string(), after: z.string() })
type Plan = z.infer<typeof planSchema>

export const editFile = defineToolWithText<Args>({
  name: 'edit_file',
  loadText: () => loadToolText('edit_file'),
  args,
  needs: ['file'],
  effect: () => ({ recovery: 'reconcilable', reach: 'workspace' }),
  gives: () => LABEL_OF_OWN_OUTPUT,
  placeholders: {
    file: ({ path }) => path,
    fill: ({ path, old, new: fresh }, textOf) => ({
      path,
      old: replacePlaceholders(old, textOf),
      new: replacePlaceholders(fresh, textOf),
    }),
  },
  before: async (wanted, context) => {
    const outcome = await planEdit(wanted, context).catch(() => undefined)
    return outcome?.kind === 'edit' ? outcome.plan : null
  },
  run: (wanted, context) =>
    asToolResult(async () => {
      const outcome = await planEdit(wanted, context)
      if (outcome.kind === 'refused') return toolError(`nothing was changed: ${outcome.why}`)
      await context.ops('file').write(wanted.path, outcome.text, outcome.plan.before)
      return editedResult(outcome.plan, context)
    }),
  probe: async (wanted, before, context) => {
    const { ops } = context
    const plan = planSchema.safeParse(before)
    // No plan was recorded, because the edit could not be made. A repetition is safe: it checks the file again.
    if (!plan.success) return { kind: 'not' }
    const current = await ops('file')
      .read(wanted.path)
      .catch(() => undefined)
    if (current?.sha === plan.data.after) return { kind: 'happened', result: editedResult(plan.data, context) }
    return { kind: current?.sha === plan.data.before ? 'not' : 'unclear' }
  },
})

type Attempt =
  | { readonly kind: 'edit'; readonly plan: Plan; readonly text: string }
  | { readonly kind: 'refused'; readonly why: string }

async function planEdit({ path, old, new: fresh }: Args, { env, ops, seen }: ToolContext): Promise<Attempt> {
  const refuse = (why: string): Attempt => ({ kind: 'refused', why })
  const file = await ops('file').read(path)
  if (!file) return refuse(`there is no file ${JSON.stringify(path)}; create it with create_file`)
  const name = normalizePath(env, path)
  if (!seen.has(name)) return refuse(`you have not viewed ${name}; view it first`)
  if (seen.get(name) !== file.sha) return refuse(`${name} has changed since you last viewed it; view it again`)
  const done = replaceText(file.text, old, fresh, name, 'view the file')
  if (done.kind === 'refused') return done
  const after = createHash('sha256').update(done.text).digest('hex')
  return { kind: 'edit', plan: { path: name, line: done.line, before: file.sha, after }, text: done.text }
}

/** An edit moves lines, so of a file that was viewed in part it is no longer known which. */
function editedResult({ path, line, after }: Plan, { viewedParts }: ToolContext): CallResult {
  const of = viewedParts?.get(path)?.[0]?.of
  const part = of === undefined ? undefined : { from: 1, to: 0, of }
  return fileResult(`edited ${path} at line ${line}`, path, after, part)
}
