/** The measured subjects, in display order. */

interface Subject {
  readonly title: string
  readonly file: string
  /** What is counted, if not steps of the loop. */
  readonly unit?: string
}

export const SUBJECTS = {
  tireless: { title: 'Tireless, the whole engine', file: 'subjects/tireless.ts' },
  store: { title: 'bare store, same commits', file: 'subjects/store.ts' },
  langgraph: { title: 'LangGraph JS, SQLite saver', file: 'peers/langgraph.mjs' },
  sqlite: { title: 'node:sqlite, alone', file: 'subjects/sqlite.ts', unit: 'commits' },
  disk: { title: 'the disk, fdatasync', file: 'subjects/disk.ts', unit: 'syncs' },
} as const satisfies Record<string, Subject>

export type SubjectName = keyof typeof SUBJECTS

/** The title up to the first comma. */
export const shortTitle = (subject: SubjectName): string => SUBJECTS[subject].title.split(',')[0] ?? ''

export const unitOf = (subject: SubjectName): string | undefined => {
  const known: Subject = SUBJECTS[subject]
  return known.unit
}
