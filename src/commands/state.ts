/** STATE.md and the other documents of the kernel: as they stand, as they became so, back to what they were, and edits that wait for a word. */

import { z } from 'zod'
import { DOCUMENT_NAMES, type Document, type DocumentName } from '../domain/document.ts'
import { TirelessError } from '../domain/error.ts'
import { unifiedDiff } from '../domain/lines.ts'
import { CLEAN, labelWord, lowest, TRUSTS } from '../domain/trust.ts'
import type { Documents } from '../ports/documents.ts'
import { recordAct } from './audit.ts'
import { command } from './command.ts'

const versionShape = z.object({
  kernel_id: z.string(),
  name: z.string(),
  version: z.number(),
  sha256: z.string(),
  bytes: z.number(),
  author: z.string(),
  reason: z.string(),
  cycle_id: z.string().nullable(),
  ts: z.string(),
})
/** `untrusted`: it came from outside. `private`: it must not reach third parties. */
const labelFields = { trust: z.enum(TRUSTS), private: z.boolean() }
const documentShape = versionShape.extend({ text: z.string() })

const document = z.enum(DOCUMENT_NAMES).default('STATE.md').describe('which document')
const number = z.coerce.number().int().positive()

async function standing(documents: Documents, name: DocumentName): Promise<Document> {
  const found = await documents.read(name)
  if (found) return found
  throw new TirelessError('not_found', {
    what: `there is no ${name} yet`,
    fix: 'the kernel makes its documents when it starts: tireless start',
  })
}

async function versionOf(documents: Documents, name: DocumentName, version: number): Promise<Document> {
  const found = await documents.version(name, version)
  if (found) return found
  throw new TirelessError('not_found', {
    what: 'there is no such version, or not any more',
    where: name,
    got: String(version),
    fix: 'see which are kept: tireless state log',
  })
}

export const stateShow = command({
  name: 'state show',
  summary: 'STATE.md, or another document, as it stands or stood',
  runsIn: 'any_process',
  positional: ['version'],
  input: z.object({ version: number.optional().describe('version from state log'), document }),
  output: documentShape.extend({
    pending: z.boolean(),
    ...labelFields,
    sections: z
      .array(z.object({ title: z.string().describe('empty: before the first heading'), ...labelFields }))
      .describe('those that are not trusted, or private'),
  }),
  async run({ documents }, { version, document: name }, tell) {
    const latest = await standing(documents, name)
    const shown = version === undefined ? latest : await versionOf(documents, name, version)
    const labelled = await documents.labels(name, shown.text)
    const whole = labelled.map(({ label }) => label).reduce(lowest, CLEAN)
    // Beside the text, not in it: the text is for files and pipes, too.
    const { author, reason, ts } = shown
    tell({ kind: 'note', text: `version ${shown.version} by ${author} (${reason}), ${ts}: ${labelWord(whole)}` })
    for (const { title, label } of labelled)
      tell({ kind: 'note', text: `${labelWord(label)}: ${title || 'before the first heading'}` })
    return {
      ...shown,
      pending: (await documents.pending(name)) !== undefined,
      ...whole,
      sections: labelled.map(({ title, label }) => ({ title, ...label })),
    }
  },
})

export const stateLog = command({
  name: 'state log',
  summary: 'its versions, newest first: who, why, when',
  runsIn: 'any_process',
  input: z.object({ document, limit: z.int().positive().default(50).describe('at most so many') }),
  output: z.object({ items: z.array(versionShape) }),
  run: async ({ documents }, { document: name, limit }) => ({ items: [...(await documents.versions(name, limit))] }),
})

export const stateDiff = command({
  name: 'state diff',
  summary: 'what an edit that waits for `state accept` would change; or what changed between two versions',
  runsIn: 'any_process',
  positional: ['from', 'to'],
  input: z.object({
    from: number.optional().describe('version; default: the one before'),
    to: number.optional().describe('version; default: as it stands'),
    document,
  }),
  output: z.object({ name: z.string(), from: z.string(), to: z.string(), diff: z.string() }),
  async run({ documents }, { from, to, document: name }) {
    const latest = await standing(documents, name)
    const pending = from === undefined && to === undefined ? await documents.pending(name) : undefined
    if (pending !== undefined) return compared(name, latest, { label: 'the file', text: pending })
    const after = to === undefined ? latest : await versionOf(documents, name, to)
    if (from !== undefined) return compared(name, await versionOf(documents, name, from), labelled(after))
    // Those in between may not be kept any more.
    const versions = await documents.versions(name, Number.MAX_SAFE_INTEGER)
    const before = versions.find(({ version }) => version < after.version)?.version
    return compared(name, before === undefined ? undefined : await versionOf(documents, name, before), labelled(after))
  },
})

interface Labelled {
  readonly label: string
  readonly text: string
}

const labelled = ({ version, text }: Document): Labelled => ({ label: `version ${version}`, text })

function compared(name: DocumentName, before: Document | undefined, after: Labelled) {
  const from = before ? labelled(before) : { label: 'nothing', text: '' }
  const side = ({ label, text }: Labelled) => ({ name: `${name} (${label})`, text })
  return { name, from: from.label, to: after.label, diff: unifiedDiff(side(from), side(after)) }
}

export const stateRevert = command({
  name: 'state revert',
  summary: 'the text of an earlier version again; without one, an edit that waits is put aside',
  runsIn: 'any_process',
  positional: ['version'],
  input: z.object({ version: number.optional().describe('version from state log'), document }),
  output: versionShape,
  async run({ documents }, { version, document: name }) {
    await standing(documents, name)
    return documents.revert(name, version)
  },
})

export const stateAccept = command({
  name: 'state accept',
  summary:
    'what waits for your word is yours: edits of the files are taken in, sections by agents that read text from outside are trusted',
  runsIn: 'any_process',
  input: z.object({ document: z.enum(DOCUMENT_NAMES).optional().describe('only this one') }),
  output: z.object({
    items: z.array(
      z.object({
        name: z.string(),
        outcome: z.enum(['taken', 'clash', 'trusted']),
        sections: z.array(z.string()).optional(),
      }),
    ),
  }),
  async run(context, { document: only }) {
    const { documents } = context
    const items: { name: string; outcome: 'taken' | 'clash' | 'trusted'; sections?: string[] }[] = []
    for (const name of DOCUMENT_NAMES) {
      if (only !== undefined && only !== name) continue
      const outcome = await documents.accept(name)
      if (outcome !== 'none') items.push({ name, outcome })
      const sections = [...(await documents.trust(name))]
      if (sections.length > 0) items.push({ name, outcome: 'trusted', sections })
    }
    if (items.length > 0) await recordAct(context, 'state', { items })
    return { items }
  },
  exit: ({ items }) => (items.some(({ outcome }) => outcome === 'clash') ? 3 : 0),
})
