/** The role of an agent: `role.md`, which belongs to the owner, and `self.md`, what the agent wrote about itself. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** `folders`: with one folder per agent; earlier ones win. Contract: null if there is neither file. */
export async function readRole(folders: readonly string[], agentId: string): Promise<string | null> {
  const texts = await Promise.all(['role.md', 'self.md'].map((name) => firstText(folders, agentId, name)))
  const written = texts.filter((text) => text !== '')
  return written.length === 0 ? null : written.join('\n\n')
}

async function firstText(folders: readonly string[], agentId: string, name: string): Promise<string> {
  for (const folder of folders) {
    const text = await readFile(join(folder, agentId, name), 'utf8').catch(() => undefined)
    if (text !== undefined) return text.trim()
  }
  return ''
}
