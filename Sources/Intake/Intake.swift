// Intake
