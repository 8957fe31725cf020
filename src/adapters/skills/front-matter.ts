/** Parses the front matter of SKILL.md: name and description. */

import { parse } from 'yaml'
import { TirelessError } from '../../domain/error.ts'
import type { SkillLine } from '../../domain/skill.ts'
import { truncateText } from '../../domain/truncate.ts'

const MAX_DESCRIPTION = 300

/** Contract: throws `conflict` if name or description is missing, or the name differs from the folder's. */
export function parseFrontMatter(text: string, folder: string): SkillLine {
  const head = /^\ufeff?---\r?\n(?<head>[\s\S]*?)\r?\n---\s*(?:\r?\n|$)/.exec(text)?.groups?.head ?? ''
  const values = parseMapping(head) ?? parseMapping(quotePlainValues(head)) ?? {}
  const [name, description] = [oneLine(values.name), oneLine(values.description)]
  if (name === '' || description === '')
    throw invalidSkill(
      'SKILL.md has no front matter with name and description',
      'lines `---`, `name: …`, `description: …`, `---`',
    )
  if (name !== folder)
    throw invalidSkill(
      `the name in SKILL.md is ${JSON.stringify(name.slice(0, 64))}`,
      `the name of its folder, ${folder}`,
    )
  return { name, description: truncateText(description, MAX_DESCRIPTION, { mark: '' }) }
}

/** Contract: undefined if the text is not a YAML mapping. All plain values are strings. */
function parseMapping(yaml: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parse(yaml, { schema: 'failsafe', logLevel: 'error' })
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Many skills have an unquoted value with a colon (`description: Use it: often`), which is not YAML. */
const quotePlainValues = (yaml: string): string =>
  yaml.replaceAll(/^(\w+):[ \t]+(?![>|"'[{&*!])(.*\S)[ \t]*$/gm, (_, key: string, value: string) => {
    return `${key}: ${JSON.stringify(value)}`
  })

const oneLine = (value: unknown): string => (typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim() : '')

const invalidSkill = (what: string, expected: string): TirelessError =>
  new TirelessError('conflict', { what, expected })
