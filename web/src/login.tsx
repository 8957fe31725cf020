/** The login form: asks for the token once per browser. */

import { useRef, useState } from 'preact/hooks'
import { login, Refused } from './api.ts'
import { Mark } from './parts.tsx'
import type { Words } from './words.ts'

interface LoginProps {
  readonly words: Words
  switchLanguage(): void
  entered(): void
}

export function Login({ words, switchLanguage, entered }: LoginProps) {
  const field = useRef<HTMLInputElement>(null)
  const [error, setError] = useState('')

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      await login({ token: field.current?.value.trim() ?? '' })
      entered()
    } catch (thrown) {
      setError(thrown instanceof Refused ? words.loginWrong : words.loginFailed)
      field.current?.select()
    }
  }

  return (
    <main class="mx-auto flex min-h-dvh max-w-sm flex-col justify-center px-6 pb-24">
      <div class="mb-8 flex items-center gap-3">
        <Mark alive />
        <span class="text-lg font-semibold">Tireless</span>
      </div>
      <h1 class="text-2xl font-semibold tracking-tight text-balance">{words.loginTitle}</h1>
      <p class="mt-2 text-muted">{words.loginHelp}</p>
      <form class="mt-6 flex flex-col gap-3" onSubmit={submit}>
        <label class="flex flex-col gap-1">
          <span class="label">{words.token}</span>
          <input
            ref={field}
            class="rounded-md border border-line bg-surface px-3 py-2 font-mono"
            type="password"
            name="token"
            autocomplete="off"
            spellcheck={false}
            required
          />
        </label>
        <button class="cursor-pointer rounded-md bg-ink px-3 py-2 font-medium text-paper" type="submit">
          {words.login}
        </button>
        <p class="min-h-6 text-fault" role="alert">
          {error}
        </p>
      </form>
      <button class="cursor-pointer self-start text-muted underline" type="button" onClick={switchLanguage}>
        {words.language}
      </button>
    </main>
  )
}
