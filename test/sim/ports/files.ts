/** The kernel's folder, which outlives processes: a file is replaced whole or not at all, and people edit it between any two moments. */

import type { DocumentFiles } from '../../../src/adapters/documents/files.ts'
import type { DocumentFileContent } from '../../../src/adapters/documents/read-file.ts'
import type { Life } from '../process.ts'
import type { World } from '../world.ts'

export function simFiles(world: World, life: Life): DocumentFiles {
  const { files } = world
  const found = (name: string): DocumentFileContent => {
    const text = files.get(name)
    return text === undefined ? { kind: 'absent' } : { kind: 'text', text }
  }
  const isStill = (name: string, over: DocumentFileContent): boolean =>
    over.kind === 'text' ? files.get(name) === over.text : !files.has(name)
  return {
    folder: 'home',
    read: (name) => world.io(life, 'read', `file ${name}`, () => found(name)),
    replace(name, text, over) {
      world.state.replacing()
      return world.io(life, 'file', name, () => {
        if (!isStill(name, over)) {
          world.counters.add('file edited before it was replaced')
          return false
        }
        files.set(name, text)
        return true
      })
    },
    findLateEdit: async () => undefined,
    async setAside(name) {
      files.delete(name)
      return `${name}.torn`
    },
    saveCopy: async (name, kind) => `${name}.${kind}`,
    // Of the fallback, which is never used here: a file in the folder is nobody's to remove.
    remove: async () => {},
    close: async () => {},
  }
}
