/** The login form: says how to get in, and asks for the token once per browser. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, login } from './api.ts'
import { Logo } from './components.tsx'
import type { Texts } from './texts.ts'

interface LoginProps {
  readonly texts: Texts
  /** The browser came by a login link that no longer works. */
  readonly isLinkSpent: boolean
  switchLanguage(): void
  onLogin(): void
}

export function Login({ texts, isLinkSpent, switchLanguage, onLogin }: LoginProps) {
  const field = useRef<HTMLInputElement>(null)
  const [error, setError] = useState('')
  const title = isLinkSpent ? texts.linkSpentTitle : texts.loginTitle
  useEffect(() => {
    document.title = `${title} · Tireless`
  }, [title])

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      await login({ token: field.current?.value.trim() ?? '' })
      onLogin()
    } catch (thrown) {
      setError(explain(thrown, texts))
      field.current?.select()
    }
  }

  return (
    <main class="mx-auto flex min-h-dvh max-w-sm flex-col justify-center px-6 pb-24">
      <div class="mb-8 flex items-center gap-3">
        <Logo isActive />
        <span class="text-lg font-semibold">Tireless</span>
      </div>
      <h1 class="text-2xl font-semibold tracking-tight text-balance">{title}</h1>
      <p class="mt-2 text-muted">{isLinkSpent ? texts.linkSpentHelp : texts.loginHelp}</p>
      <code class="mt-2 rounded-md border border-line bg-sunken px-3 py-2 font-mono select-all">tireless open</code>
      <p class="mt-6 text-muted">{texts.loginOr}</p>
      <form class="mt-3 flex flex-col gap-3" onSubmit={submit}>
        <label class="flex flex-col gap-1">
          <span class="label">{texts.token}</span>
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
          {texts.login}
        </button>
        <p class="min-h-6 text-fault" role="alert">
          {error}
        </p>
      </form>
      <button class="cursor-pointer self-start text-muted underline" type="button" onClick={switchLanguage}>
        {texts.language}
      </button>
    </main>
  )
}

function explain(thrown: unknown, texts: Texts): string {
  if (!(thrown instanceof ApiError)) return texts.loginFailed
  return thrown.code === 'unauthorized' ? texts.loginWrong : texts.loginTooMany
}
