/** Parses the front matter of SKILL.md: name and description. */

import { TirelessError } from '../../domain/error.ts'
import type { SkillLine } from '../../domain/skill.ts'

const MAX_DESCRIPTION = 300

/** Contract: throws `conflict` if name or description is missing, or the name differs from the folder's. */
export function parseFrontMatter(text: string, folder: string): SkillLine {
  const lines = /^\ufeff?---\r?\n(?<head>[\s\S]*?)\r?\n---\s*(?:\r?\n|$)/.exec(text)?.groups?.head?.split(/\r?\n/) ?? []
  const readValue = (key: string): string => {
    const at = lines.findIndex((line) => line.startsWith(`${key}:`))
    if (at < 0) return ''
    const next = lines.slice(at + 1)
    const end = next.findIndex((line) => !/^\s+\S/.test(line))
    // A value over several indented lines is joined into one line.
    const folded = [lines[at]?.slice(key.length + 1), ...next.slice(0, end < 0 ? undefined : end)].join(' ')
    const plain = folded
      .replace(/^\s*[>|][+-]?\s/, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
    return plain.replace(/^(["'])(.*)\1$/, '$2')
  }
  const [name, description] = [readValue('name'), readValue('description')]
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
  return { name, description: description.slice(0, MAX_DESCRIPTION) }
}

const invalidSkill = (what: string, expected: string): TirelessError =>
  new TirelessError('conflict', { what, expected })
