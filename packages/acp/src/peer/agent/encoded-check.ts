// Whether encoded updates are validated once more before they are sent. Only tests switch it on: the encoders make valid
// messages of valid updates, as `encoded-updates.proof.test.ts` shows.

export const encodedCheck = { isOn: false };
