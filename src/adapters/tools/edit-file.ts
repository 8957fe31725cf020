/** edit_file: one passage of a file replaced by another. After a crash the digests before and after tell whether it happened. */

import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { CallResult } from '../../domain/decision.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { ToolContext } from '../../ports/tool.ts'
import { spelled } from './file-path.ts'
import { failed, knowing, told } from './result.ts'

const args = z.strictObject({
  path: z.string().describe('The file, relative to the workspace.'),
  old: z.string().min(1).describe('The passage to replace, exactly as in the file; it must occur once.'),
  new: z.string().describe('What to put in its place.'),
})
type Args = z.infer<typeof args>

const planned = z.object({ path: z.string(), line: z.number(), before: z.string(), after: z.string() })
type Plan = z.infer<typeof planned>

export const editFile = defineTool<Args>({
  name: 'edit_file',
  description: 'Replaces one passage of a text file that you have viewed. Refused if the file has changed since.',
  args,
  needs: ['file'],
  effect: () => ({ recovery: 'reconcilable', reach: 'workspace' }),
  before: async (wanted, context) => {
    const outcome = await attempt(wanted, context).catch(() => undefined)
    return outcome?.kind === 'edit' ? outcome.plan : null
  },
  run: (wanted, context) =>
    told(async () => {
      const outcome = await attempt(wanted, context)
      if (outcome.kind === 'refused') return failed(`nothing was changed: ${outcome.why}`)
      await context.ops('file').write(wanted.path, outcome.text, outcome.plan.before)
      return edited(outcome.plan)
    }),
  probe: async (wanted, before, { ops }) => {
    const plan = planned.safeParse(before)
    // It would have been refused; a rerun is compared with what was seen again, so it cannot do harm.
    if (!plan.success) return { kind: 'not' }
    const current = await ops('file')
      .read(wanted.path)
      .catch(() => undefined)
    if (current?.sha === plan.data.after) return { kind: 'happened', result: edited(plan.data) }
    return { kind: current?.sha === plan.data.before ? 'not' : 'unclear' }
  },
})

type Attempt =
  | { readonly kind: 'edit'; readonly plan: Plan; readonly text: string }
  | { readonly kind: 'refused'; readonly why: string }

async function attempt({ path, old, new: fresh }: Args, { env, ops, seen }: ToolContext): Promise<Attempt> {
  const refuse = (why: string): Attempt => ({ kind: 'refused', why })
  const file = await ops('file').read(path)
  if (!file) return refuse(`there is no file ${JSON.stringify(path)}; make it with create_file`)
  const name = spelled(env, path)
  if (!seen.has(name)) return refuse(`you have not seen ${name}; view it first`)
  if (seen.get(name) !== file.sha) return refuse(`${name} has changed since you last saw it; view it again`)
  if (old === fresh) return refuse('old and new are the same')
  const [at, ...more] = occurrences(file.text, old)
  if (at === undefined) return refuse(`old does not occur in ${name}; ${hint(file.text, old)}`)
  if (more.length > 0) return refuse(severalTimes(file.text, [at, ...more]))
  const text = file.text.slice(0, at) + fresh + file.text.slice(at + old.length)
  const after = createHash('sha256').update(text).digest('hex')
  return { kind: 'edit', plan: { path: name, line: lineOf(file.text, at), before: file.sha, after }, text }
}

function edited({ path, line, after }: Plan): CallResult {
  return knowing(`edited ${path} at line ${line}`, path, after)
}

/** Overlapping ones too: where two would do, the edit is ambiguous. */
function occurrences(text: string, passage: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(passage); at !== -1; at = text.indexOf(passage, at + 1)) found.push(at)
  return found
}

const MOST_LINES = 20

function severalTimes(text: string, found: readonly number[]): string {
  const lines = found.slice(0, MOST_LINES).map((at) => lineOf(text, at))
  const where = `${lines.join(', ')}${found.length > MOST_LINES ? ', …' : ''}`
  return `old occurs ${found.length} times, at lines ${where}; make it longer, so that it occurs once`
}

const MOST_HINTED = 4000

function hint(text: string, passage: string): string {
  const words = passage.length > MOST_HINTED ? [] : passage.split(/\s+/).filter((word) => word !== '')
  const near = words.length === 0 ? -1 : text.search(new RegExp(words.map(RegExp.escape).join('\\s+')))
  if (near === -1) return 'view the file and copy the passage exactly'
  const breaks = text.includes('\r\n') && !passage.includes('\r\n') ? ' (the file ends its lines with \\r\\n)' : ''
  return `a passage that differs only in white space starts at line ${lineOf(text, near)}${breaks}`
}

function lineOf(text: string, at: number): number {
  let line = 1
  for (let next = text.indexOf('\n'); next !== -1 && next < at; next = text.indexOf('\n', next + 1)) line += 1
  return line
}
