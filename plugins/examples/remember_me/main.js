// This file is a script body, which runs from top to bottom. $language is the member "language" of
// the input.
const known = await memory.get_content('userPreferences');

if ($language) {
  await memory.set_content('userPreferences', { language: $language });
}

if (!known?.language) {
  const reply = $language ? `I will remember ${$language}.` : 'Which language do you prefer?';
  return { greeting: `Hello, stranger! ${reply}` };
}
const change = $language && $language !== known.language ? `; from now on ${$language}` : '';
return { greeting: `Welcome back! You prefer ${known.language}${change}.` };
