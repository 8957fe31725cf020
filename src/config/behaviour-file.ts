/**
 * Parses `behaviours/<name>.md`: settings as YAML between two lines `---`, then one text per heading `## name`. Unknown
 * keys, headings and placeholders are errors that name the nearest valid one.
 */

import { z } from 'zod'
import {
  type BehaviourSpec,
  INPUT_PARTS,
  MEMORY_SECTIONS,
  type MemorySection,
  OUTPUT_KINDS,
} from '../domain/behaviour-spec.ts'
import { TirelessError } from '../domain/error.ts'
import { nearestName, schemaLevels } from './explain-problems.ts'
import { parseConfigFile } from './parse-file.ts'
import { countLimit, positiveCount, textWithoutSpaces } from './value-types.ts'

const names = z.array(textWithoutSpaces).prefault([])

const settings = z.strictObject({
  tools: names.describe('tools offered to the model'),
  skills: names.describe('skills named to the model'),
  access: z.enum(['write', 'read_only', 'copy']).prefault('read_only').describe('what it may do to the workspace'),
  output: z.enum(OUTPUT_KINDS).prefault('behaviour'),
  memory: z
    .partialRecord(z.enum(MEMORY_SECTIONS), positiveCount)
    .prefault({})
    .describe('sections of the memory in order of priority, each with its limit in tokens'),
  step_limit: countLimit.prefault(20),
  fallback: textWithoutSpaces.prefault('end').describe('at the step limit: a behaviour, self (wait and ask) or end'),
})

const PARTS = ['process_rules', 'policy', 'toolbox', 'input'] as const
type Part = (typeof PARTS)[number]

const MAX_CHARACTERS = 100_000

/** `file` is shown in messages. Contract: throws `config_invalid` with the place and the nearest valid name. */
export function parseBehaviourFile(file: string, name: string, source: string): BehaviourSpec {
  if (source.length > MAX_CHARACTERS)
    throw new TirelessError('config_invalid', {
      ...{ where: file, what: 'the file is too long', got: `${source.length} characters` },
      ...{ expected: `at most ${MAX_CHARACTERS}`, fix: 'shorten it: its texts are part of every request' },
    })
  const { yaml, body } = splitFile(file, source.replaceAll('\r\n', '\n'))
  const { output } = parseConfigFile({
    ...{ source: yaml, name: file, env: {}, schema: settings },
    validKeys: () => schemaLevels(z.toJSONSchema(settings, { io: 'input' }) as Parameters<typeof schemaLevels>[0]),
  })
  const parts = readParts(file, body)
  const { memory, ...rest } = output
  return {
    name,
    ...rest,
    memory: Object.entries(memory).map(([section, tokens]) => ({ section: section as MemorySection, tokens })),
    process_rules: parts.get('process_rules') ?? '',
    policy: parts.get('policy') ?? '',
    toolbox: parts.get('toolbox') ?? '',
    input: checkInput(file, parts.get('input') ?? INPUT_PARTS.map((part) => `{${part}}`).join('\n\n')),
  }
}

interface SplitFile {
  /** The settings with an empty line before them, so that line numbers in messages are those of the file. */
  readonly yaml: string
  readonly body: string
}

function splitFile(file: string, source: string): SplitFile {
  const found = /^---\n([\s\S]*?)\n?^---[ \t]*$\n?/m.exec(source)
  if (found?.index !== 0)
    throw new TirelessError('config_invalid', {
      ...{ where: file, what: 'the file does not begin with settings' },
      expected: 'YAML between two lines ---, then texts below the headings ## process_rules, ## policy …',
      fix: 'begin the file with the settings, for example ---, tools: [view_file], ---',
    })
  return { yaml: `\n${found[1]}`, body: source.slice(found[0].length) }
}

const HEADING = /^## +(.+?)[ \t]*$/m

function readParts(file: string, body: string): ReadonlyMap<Part, string> {
  const [, ...rest] = `\n${body}`.split(HEADING)
  const parts = new Map<Part, string>()
  for (let i = 0; i < rest.length; i += 2) {
    const heading = rest[i] ?? ''
    const part = PARTS.find((known) => known === heading)
    if (part === undefined) throw unknownName(file, `the heading "## ${heading}"`, heading, PARTS)
    if (parts.has(part))
      throw new TirelessError('config_invalid', {
        ...{ where: file, what: `the heading "## ${heading}" is there twice` },
        fix: 'remove one of them',
      })
    parts.set(part, (rest[i + 1] ?? '').trim())
  }
  if (!parts.get('process_rules'))
    throw new TirelessError('config_invalid', {
      ...{ where: file, what: 'the behaviour has no rules', expected: 'a text below the heading "## process_rules"' },
      fix: 'add it',
    })
  return parts
}

function checkInput(file: string, template: string): string {
  for (const [placeholder, name = ''] of template.matchAll(/\{([a-z_]+)\}/g))
    if (!INPUT_PARTS.some((known) => known === name))
      throw unknownName(file, `the placeholder ${placeholder} of the input`, name, INPUT_PARTS)
  return template
}

function unknownName(file: string, what: string, name: string, known: readonly string[]): TirelessError {
  return new TirelessError('config_invalid', {
    ...{ where: file, what: `${what} is not known`, expected: `one of ${known.join(', ')}` },
    fix: `rename it to ${nearestName(name, known)}, or remove it`,
  })
}
